//! The constants of the Python SDK.

use super::{NOTICE, screaming};
use crate::errors::Entry;

/// One assignment a code, its meaning before it.
pub(super) fn codes(entries: &[&Entry]) -> String {
    let mut text = format!("# {NOTICE}\n\"\"\"The code of every refusal that this SDK makes.\"\"\"\n\n");
    for entry in entries {
        text.push_str(&format!("#: {}\n{} = \"{}\"\n", entry.meaning, screaming(&entry.code), entry.code));
    }
    text
}
