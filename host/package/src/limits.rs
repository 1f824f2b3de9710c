//! Bounds of packages, one constant per number.
//!
//! Bounds of targets, frames and JSON documents stand in [`modberth_protocol::limits`].

/// Name of the manifest inside a package folder and inside an archive.
pub const MANIFEST_NAME: &str = "manifest.json";
/// Folder of a development package whose contents are packed, run and hashed.
pub const PAYLOAD_NAME: &str = "payload";
/// Member that carries what Modberth adds to a package: examples and resource hints.
pub const HINTS_NAME: &str = "modberth.json";
/// Ending of the name of an archive: `ID-VERSION.ficc-module.zip`.
pub const ARCHIVE_SUFFIX: &str = ".ficc-module.zip";

/// Most bytes of `manifest.json`, before and after packing.
pub const MANIFEST_BYTES: usize = 65_536;
/// Most bytes of `modberth.json`.
pub const HINTS_BYTES: usize = 1_048_576;
/// Most bytes of an archive.
pub const ARCHIVE_BYTES: usize = 16 * 1024 * 1024;
/// Most bytes of all members together, expanded.
pub const EXPANDED_BYTES: u64 = 64 * 1024 * 1024;
/// Most bytes of one member, expanded.
pub const MEMBER_BYTES: u64 = 16 * 1024 * 1024;
/// Most members of an archive, the manifest included.
pub const MEMBERS: usize = 256;
/// Most entries of `files`: every member but the manifest.
pub const FILES: usize = MEMBERS - 1;
/// Most characters of a member path.
pub const MEMBER_PATH_CHARACTERS: usize = 240;
/// Most characters of one part of a member path.
pub const MEMBER_PART_CHARACTERS: usize = 64;
/// Most directory entries that reading a package folder looks at, empty directories included.
pub const FOLDER_ENTRIES: usize = 4_096;

/// Most characters of `version`.
pub const VERSION_CHARACTERS: usize = 64;
/// Most code points of `display_name`, `publisher` and every `label`.
pub const LABEL_CHARACTERS: usize = 160;
/// Most code points of `description`.
pub const DESCRIPTION_CHARACTERS: usize = 1_024;
/// Most entries of `capabilities`, and of every other list of capabilities.
pub const CAPABILITIES: usize = 32;
/// Most characters of a capability name.
pub const CAPABILITY_CHARACTERS: usize = 65;
/// Most actions of a package.
pub const ACTIONS: usize = 64;
/// Most parameters of an action.
pub const PARAMETERS: usize = 32;

/// Largest `max_length` of a string or of an item of a string-list, in code points.
pub const PARAMETER_LENGTH: u64 = 8_192;
/// `max_length` of a string that declares none, in code points.
pub const STRING_LENGTH_DEFAULT: u64 = 8_192;
/// `max_length` of the items of a string-list that declares none, in code points.
pub const ITEM_LENGTH_DEFAULT: u64 = 128;
/// Largest `max_items` of a string-list.
pub const LIST_ITEMS: u64 = 128;
/// `max_items` of a string-list that declares none.
pub const LIST_ITEMS_DEFAULT: u64 = 64;
/// Most `choices` of a string or string-list.
pub const CHOICES: usize = 64;

/// Most components of a `ui` tree.
pub const UI_COMPONENTS: usize = 128;
/// Deepest component of a `ui` tree; the root is at depth 0.
pub const UI_DEPTH: usize = 8;
/// Most children of one component.
pub const UI_CHILDREN: usize = 32;
/// Most tabs of a `tabs` component.
pub const UI_TABS: usize = 16;
/// Deepest list of items in a `tree` component; the outermost is at depth 0.
pub const UI_TREE_DEPTH: usize = 6;
/// Most items of a `tree` component.
pub const UI_TREE_ITEMS: usize = 128;
/// Most columns of a table.
pub const UI_COLUMNS: usize = 32;
/// Most rows of a table, and its largest `page_size`.
pub const UI_ROWS: usize = 128;
/// Most options of a `select` or `radio`.
pub const UI_OPTIONS: usize = 64;
/// Most items of a `details` component.
pub const UI_DETAILS: usize = 64;
/// Most lines of a `log`.
pub const UI_LINES: usize = 128;
/// Most code points of a line of a `log`.
pub const UI_LINE_CHARACTERS: usize = 2_048;
/// Most code points of a text, of a field's value and of a button's literal value.
pub const UI_TEXT_CHARACTERS: usize = 8_192;
/// Most code points of a table cell or a detail's value.
pub const UI_CELL_CHARACTERS: usize = 4_096;
/// Most code points of the value of an `editor`.
pub const UI_EDITOR_CHARACTERS: usize = 65_536;
/// Most code points of a reference or a time zone.
pub const UI_REFERENCE_CHARACTERS: usize = 128;
/// Most keys of the path of a binding.
pub const UI_PATH_KEYS: usize = 8;
/// Largest index in the path of a binding.
pub const UI_PATH_INDEX: i64 = 255;
/// Most code points of a name in the path of a binding.
pub const UI_PATH_NAME_CHARACTERS: usize = 96;
/// Most pages of a `pager`.
pub const UI_PAGES: i64 = 128;
/// Most parameters that a button fills in.
pub const UI_BUTTON_PARAMETERS: usize = 32;

/// Smallest and largest `limits.memory_mib` of `modberth.json`, in MiB. The host's ceiling applies as well.
pub const HINT_MEMORY_MIB: (i64, i64) = (16, 16_384);
/// Smallest and largest `limits.tasks` of `modberth.json`. The host's ceiling applies as well.
pub const HINT_TASKS: (i64, i64) = (1, 1_024);
/// Smallest and largest `limits.cpu_percent` of `modberth.json`; 100 is one CPU. The host's ceiling applies as well.
pub const HINT_CPU_PERCENT: (i64, i64) = (5, 1_600);
/// Most examples of one action in `modberth.json`.
pub const HINT_EXAMPLES: usize = 32;

/// Most problems that one check reports; the rest is left out.
pub const PROBLEMS: usize = 100;
