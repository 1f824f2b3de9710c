//! The index of all codes in the docs.

use crate::errors::Entry;

/// The page `docs/errors.md`: one table for each area.
pub(super) fn index(entries: &[&Entry]) -> String {
    let mut text = format!("<!-- {} -->\n\n", super::NOTICE);
    text.push_str(
        "# Error codes\n\n\
         Every failure carries one of these codes. A code never changes its meaning. The *blame* says who has to change \
         something: the caller, the module, the policy or the host. *By* says who finds it: the host, the SDK inside the \
         module, or both. Codes that a module gives to a single target are the module's own and stand in no list.\n",
    );
    let mut area = "";
    for entry in entries {
        let own = entry.code.split('.').next().unwrap_or_default();
        if own != area {
            area = own;
            text.push_str(&format!(
                "\n## {area}\n\n| code | meaning | what to do | blame | by |\n|---|---|---|---|---|\n"
            ));
        }
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            entry.code,
            cell(&entry.meaning),
            cell(&entry.remedy),
            entry.blame,
            entry.by.join(", ")
        ));
    }
    text
}

/// Text inside a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
