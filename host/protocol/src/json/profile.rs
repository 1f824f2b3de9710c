//! The bounds under which a document is judged.

use crate::limits;

/// The bounds of one family of documents. The grammar and the rules on names, text and numbers are the same for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// True if the document must be an object.
    pub object_root: bool,
    /// Deepest place where a value may stand, the root being 0. It also bounds the recursion of the checker.
    pub max_depth: u8,
    /// Entries of an object or array.
    pub max_entries: usize,
    /// Unicode code points of a member name.
    pub max_name: usize,
    /// Unicode code points of a string.
    pub max_string: usize,
}

impl Profile {
    /// The process protocols, manifests and parameters (P1-HOST-17 to P1-HOST-22, P1-HOST-35).
    pub const PROCESS: Profile = Profile {
        object_root: true,
        max_depth: limits::JSON_DEPTH,
        max_entries: limits::JSON_ENTRIES,
        max_name: limits::JSON_NAME,
        max_string: limits::JSON_STRING,
    };

    /// Wire messages: depth 100 with the root object counted as 1, and no other bound but the frame's.
    pub const WIRE: Profile = Profile {
        object_root: true,
        max_depth: limits::WIRE_JSON_DEPTH,
        max_entries: usize::MAX,
        max_name: usize::MAX,
        max_string: usize::MAX,
    };

    /// The same bounds for a value that will stand at `depth` in a document of this profile. It may be any JSON value.
    #[must_use]
    pub const fn below(self, depth: u8) -> Profile {
        Profile { object_root: false, max_depth: self.max_depth.saturating_sub(depth), ..self }
    }
}
