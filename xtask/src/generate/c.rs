//! The constants of the C SDK, which C++ shares.

use super::{NOTICE, screaming};
use crate::errors::Entry;

/// One macro a code, its meaning before it.
pub(super) fn codes(entries: &[&Entry]) -> String {
    let mut text = format!("/* {NOTICE} */\n");
    text.push_str(
        "/**\n * @file modberth_codes.h\n * @brief The codes of the refusals that the SDK writes to standard error.\n */\n\
         #ifndef MODBERTH_CODES_H\n#define MODBERTH_CODES_H\n\n",
    );
    for entry in entries {
        text.push_str(&format!(
            "/** {} */\n#define MB_{} \"{}\"\n",
            entry.meaning,
            screaming(&entry.code),
            entry.code
        ));
    }
    text.push_str("\n#endif\n");
    text
}
