//! The constants of the JavaScript SDK.

use super::{NOTICE, screaming};
use crate::errors::Entry;

/// One object with a member a code, its meaning before it.
pub(super) fn codes(entries: &[&Entry]) -> String {
    let mut text = format!("// {NOTICE}\n\n");
    text.push_str("/** The stable code of every refusal that this SDK can make. */\n");
    text.push_str("export const codes = /** @type {const} */ ({\n");
    for entry in entries {
        text.push_str(&format!(
            "  /** {} */\n  {}: '{}',\n",
            entry.meaning,
            screaming(&entry.code),
            entry.code
        ));
    }
    text.push_str("});\n");
    text
}
