//! Paths of members: where a file stands inside a package.

use crate::limits::{MEMBER_PART_CHARACTERS, MEMBER_PATH_CHARACTERS};

/// Why a text is no member path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFault {
    /// The path is empty or longer than 240 characters.
    Length,
    /// A part between slashes is empty or longer than 64 characters.
    PartLength,
    /// A part begins with something other than a letter, a digit or `_`.
    PartStart,
    /// A part holds a character other than letters, digits, `_`, `.` and `-`.
    PartCharacter,
    /// A part ends with a dot.
    PartEnd,
}

impl PathFault {
    /// The rule that was broken, for people.
    #[must_use]
    pub fn rule(self) -> &'static str {
        match self {
            Self::Length => "a member path has 1 to 240 characters",
            Self::PartLength => "each part of a member path between slashes has 1 to 64 characters",
            Self::PartStart => "each part of a member path begins with a letter, a digit or _",
            Self::PartCharacter => "a member path holds only A-Z a-z 0-9 _ . - and slashes",
            Self::PartEnd => "no part of a member path ends with a dot",
        }
    }
}

/// Checks a member path: at most 240 ASCII characters; parts joined by `/`, each a letter, digit or `_` followed by up
/// to 63 of letters, digits, `_`, `.` and `-`, not ending in a dot.
///
/// So a path is never absolute, never leads upwards and never begins with a dot or a dash.
///
/// # Errors
/// The first [`PathFault`] from the left.
pub fn check_path(path: &str) -> Result<(), PathFault> {
    if path.is_empty() || path.len() > MEMBER_PATH_CHARACTERS {
        return Err(PathFault::Length);
    }
    for part in path.split('/') {
        let bytes = part.as_bytes();
        if bytes.is_empty() || bytes.len() > MEMBER_PART_CHARACTERS {
            return Err(PathFault::PartLength);
        }
        if !(bytes[0].is_ascii_alphanumeric() || bytes[0] == b'_') {
            return Err(PathFault::PartStart);
        }
        if !bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte)) {
            return Err(PathFault::PartCharacter);
        }
        if bytes.ends_with(b".") {
            return Err(PathFault::PartEnd);
        }
    }
    Ok(())
}

/// The form in which two member paths are compared: paths that differ only in case are the same file on some systems.
///
/// Member paths are ASCII, so this is their full case folding.
#[must_use]
pub fn folded(path: &str) -> String {
    path.to_ascii_lowercase()
}

/// The parent folders of a member path, the outermost first: `a/b/c` gives `a` and `a/b`.
pub fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_paths() {
        for path in
            ["a", "main.py", "a..b", "lib/libcjson.so.1", "_x/9/A-b_c.d", "__main__.py", &"x".repeat(64)]
        {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
        let longest = format!("{0}/{0}/{0}/{1}", "x".repeat(64), "y".repeat(45));
        assert_eq!(longest.len(), 240);
        assert_eq!(check_path(&longest), Ok(()));
    }

    #[test]
    fn illegal_paths() {
        let too_long = format!("{0}/{0}/{0}/{1}", "x".repeat(64), "y".repeat(46));
        for (path, fault) in [
            ("", PathFault::Length),
            (too_long.as_str(), PathFault::Length),
            (&"x".repeat(65), PathFault::PartLength),
            ("/etc/passwd", PathFault::PartLength),
            ("a//b", PathFault::PartLength),
            ("a/", PathFault::PartLength),
            ("..", PathFault::PartStart),
            ("a/../b", PathFault::PartStart),
            ("./a", PathFault::PartStart),
            (".hidden", PathFault::PartStart),
            ("-x", PathFault::PartStart),
            ("a b", PathFault::PartCharacter),
            ("a\\b", PathFault::PartCharacter),
            ("c:a", PathFault::PartCharacter),
            ("a\0b", PathFault::PartCharacter),
            ("aé", PathFault::PartCharacter),
            ("a.", PathFault::PartEnd),
            ("a./b", PathFault::PartEnd),
        ] {
            assert_eq!(check_path(path), Err(fault), "{path:?}");
        }
    }

    #[test]
    fn parents_go_inwards() {
        assert_eq!(parents("a/b/c").collect::<Vec<_>>(), ["a", "a/b"]);
        assert_eq!(parents("a").count(), 0);
    }
}
