//! What is wrong with a package: all of it at once, each problem with its own code and place.

use std::path::Path;
use std::{fmt, io};

use modberth_protocol::{Blame, Code, Violation};
use rustix::io::Errno;
use serde::Serialize;

use crate::fields::shown;
use crate::limits::{MANIFEST_NAME, PROBLEMS};

/// The file system refused something at a path of the host.
pub(crate) fn failed(what: &str, path: &Path, error: &io::Error) -> Violation {
    Violation::new(Code::PackageIo, format!("Could not {what} {}: {error}.", shown(&path.to_string_lossy())))
}

/// The file system refused something at a path that the caller named: the caller's to mend where another path, or other
/// permissions, would do.
pub(crate) fn failed_at_named(what: &str, path: &Path, error: &io::Error) -> Violation {
    use io::ErrorKind::{
        InvalidFilename, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
    };
    let of_path = matches!(
        error.kind(),
        InvalidFilename | IsADirectory | NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem
    );
    let violation = failed(what, path, error);
    // A circle of links has no stable name among the kinds.
    if of_path || error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
        violation.blame(Blame::Caller)
    } else {
        violation
    }
}

/// Everything that a check found wrong, at least one problem and at most [`PROBLEMS`](crate::limits::PROBLEMS).
///
/// `Display` gives the first problem and how many more there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(Vec<Violation>);

impl Problems {
    /// The first problem, in the order of the document.
    #[must_use]
    pub fn first(&self) -> &Violation {
        // The constructors never make an empty list.
        &self.0[0]
    }

    /// All problems.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.0.iter()
    }

    /// The first problem alone, by value.
    #[must_use]
    pub fn into_first(mut self) -> Violation {
        self.0.swap_remove(0)
    }

    /// All problems, by value.
    #[must_use]
    pub fn into_vec(self) -> Vec<Violation> {
        self.0
    }
}

impl Problems {
    /// Names the archive in problems that are about no member of it.
    pub(crate) fn of_archive(mut self, path: &str) -> Self {
        for problem in &mut self.0 {
            problem.place.file.get_or_insert_with(|| path.to_owned());
        }
        self
    }

    /// Names the files of a folder as they stand there: members stand below `payload/`, the manifest beside it.
    pub(crate) fn in_folder(mut self) -> Self {
        for problem in &mut self.0 {
            // The one member that may not be called like the manifest is the one this code is about.
            let beside = problem.code != Code::PackageFilesManifest
                && problem.place.file.as_deref() == Some(MANIFEST_NAME);
            if let Some(file) = problem.place.file.as_mut().filter(|_| !beside) {
                file.insert_str(0, "payload/");
            }
        }
        self
    }
}

impl From<Violation> for Problems {
    fn from(violation: Violation) -> Self {
        Self(vec![violation])
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first())?;
        match self.0.len() {
            1 => Ok(()),
            more => write!(f, " (and {} more)", more - 1),
        }
    }
}

impl std::error::Error for Problems {}

/// Something legal that a person should know: it does not stop a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The stable name of the warning: `main_folder`, `hidden_bytes`, `payload_differs`, or the code of what would be
    /// refused elsewhere.
    pub name: &'static str,
    /// What it is about, for people.
    pub message: String,
}

/// Collects problems, at most [`PROBLEMS`].
#[derive(Debug, Default)]
pub(crate) struct Sink {
    file: String,
    found: Vec<Violation>,
}

impl Sink {
    /// A collector for problems of the named file.
    pub(crate) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), found: Vec::new() }
    }

    /// Adds a problem; its file is filled in where it has none.
    pub(crate) fn add(&mut self, mut problem: Violation) {
        if self.found.len() < PROBLEMS {
            if problem.place.file.is_none() && !self.file.is_empty() {
                problem.place.file = Some(self.file.clone());
            }
            self.found.push(problem);
        }
    }

    /// Adds the problems of another check.
    pub(crate) fn extend(&mut self, problems: Problems) {
        problems.0.into_iter().for_each(|problem| self.add(problem));
    }

    /// Adds a problem at a place of the JSON document.
    pub(crate) fn at(&mut self, at: &At<'_>, code: Code, message: impl AsRef<str>) {
        self.add(Violation::new(code, message).path(at.to_string()));
    }

    /// Adds a problem at a place of the JSON document, with the bound and the actual value.
    pub(crate) fn bound(
        &mut self,
        at: &At<'_>,
        code: Code,
        limit: impl TryInto<u64>,
        actual: impl TryInto<u64>,
        message: impl AsRef<str>,
    ) {
        self.add(Violation::new(code, message).path(at.to_string()).limit(limit).actual(actual));
    }

    /// How many problems there are.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// The value, if nothing was found wrong.
    ///
    /// `None` without a problem would be a fault of this crate; it is reported as one and not as success.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Problems> {
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ if self.found.is_empty() => {
                Err(Violation::new(Code::PackageIo, "The package could not be understood.").into())
            }
            _ => Err(Problems(self.found)),
        }
    }
}

/// A place in a JSON document, as a chain from the value to the root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'p> {
    up: Option<&'p At<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    Rendered(&'p str),
    Name(&'p str),
    Index(usize),
}

impl<'p> At<'p> {
    /// The document itself.
    pub(crate) const ROOT: At<'static> = At { up: None, step: Step::Root };

    /// A place that was rendered before.
    pub(crate) fn rendered(place: &'p str) -> At<'p> {
        At { up: None, step: Step::Rendered(place) }
    }

    /// The member of this object.
    pub(crate) fn name(&'p self, name: &'p str) -> At<'p> {
        At { up: Some(self), step: Step::Name(name) }
    }

    /// The element of this array.
    pub(crate) fn index(&'p self, index: usize) -> At<'p> {
        At { up: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(up) = self.up {
            up.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Rendered(place) => f.write_str(place),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Name(name) if is_word(name) => {
                if self.up.is_some_and(|up| !matches!(up.step, Step::Root)) {
                    f.write_str(".")?;
                }
                f.write_str(name)
            }
            Step::Name(name) => write!(f, "[{}]", modberth_protocol::json::quote(name)),
        }
    }
}

fn is_word(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_like_expressions() {
        let actions = At::ROOT.name("actions");
        let action = actions.index(3);
        let parameters = action.name("parameters");
        assert_eq!(parameters.name("max-size").to_string(), "actions[3].parameters.max-size");
        assert_eq!(parameters.name("a.b").to_string(), r#"actions[3].parameters["a.b"]"#);
        assert_eq!(At::ROOT.name("").to_string(), r#"[""]"#);
        assert_eq!(At::ROOT.to_string(), "");
    }

    #[test]
    fn a_flood_of_problems_is_cut() {
        let mut sink = Sink::new("manifest.json");
        for _ in 0..PROBLEMS + 7 {
            sink.at(&At::ROOT, Code::PackageFieldUnknown, "x");
        }
        let problems = sink.finish(Some(())).unwrap_err();
        assert_eq!(problems.iter().count(), PROBLEMS);
        assert_eq!(
            problems.to_string(),
            format!("package.field_unknown: manifest.json: x (and {} more)", PROBLEMS - 1)
        );
    }
}
