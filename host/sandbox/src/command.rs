//! What to run: a program and its arguments, some of which are places inside the package.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// One word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Taken as it is. As a program: an absolute path of the host's machine.
    Text(OsString),
    /// A path inside the package (empty: the package itself). The launcher replaces it by where the module sees the
    /// package: its folder for the plain launcher.
    Package(PathBuf),
}

impl Word {
    /// A word that is taken as it is.
    pub fn text(text: impl Into<OsString>) -> Self {
        Self::Text(text.into())
    }

    /// A place inside the package, relative to its root.
    pub fn package(path: impl Into<PathBuf>) -> Self {
        Self::Package(path.into())
    }

    /// The word as the module gets it when it sees the package at `root`.
    pub(crate) fn resolve(&self, root: &Path) -> OsString {
        match self {
            Self::Text(text) => text.clone(),
            Self::Package(path) if path.as_os_str().is_empty() => root.as_os_str().to_owned(),
            Self::Package(path) => root.join(path).into_os_string(),
        }
    }
}

/// A program and its arguments. The program is never looked up in PATH.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    program: Word,
    arguments: Vec<Word>,
}

impl Command {
    /// A command without arguments.
    pub fn new(program: Word) -> Self {
        Self { program, arguments: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, word: Word) -> Self {
        self.arguments.push(word);
        self
    }

    /// The program.
    pub fn program(&self) -> &Word {
        &self.program
    }

    /// The arguments, without the program's own name.
    pub fn arguments(&self) -> &[Word] {
        &self.arguments
    }

    /// The command line as the module gets it when it sees the package at `root`: the program, then the arguments.
    /// This is what a person types to run the module by hand.
    pub fn line(&self, root: &Path) -> Vec<OsString> {
        std::iter::once(&self.program).chain(&self.arguments).map(|word| word.resolve(root)).collect()
    }
}
