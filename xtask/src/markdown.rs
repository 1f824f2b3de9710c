//! Checks of the Markdown pages: code that claims to be a file equals the file, links lead somewhere, and the book lists every page.

use crate::sources;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The line before a fenced block that must equal a file: `<!-- file: examples/echo/python/main.py -->`.
const MARK: &str = "<!-- file: ";

/// Files that must be shown somewhere, because a page promises that its example runs.
const SHOWN: &[(&str, &str)] = &[
    ("README.md", "examples/echo/python/"),
    ("sdk-c/README.md", "examples/echo/c/"),
    ("sdk-cpp/README.md", "examples/echo/cpp/"),
    ("sdk-rust/README.md", "examples/echo/rust/"),
    ("sdk-python/README.md", "examples/echo/python/"),
    ("sdk-js/README.md", "examples/echo/js/"),
    ("sdk-ts/README.md", "examples/echo/ts/"),
];

/// Every Markdown page of the project, relative to the root.
fn pages(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    Ok(sources::all(workspace)?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect())
}

fn read(workspace: &Workspace, path: &Path) -> Result<String> {
    fs::read_to_string(workspace.at(path)).with_context(|| path.display().to_string())
}

/// Every marked block equals its file, and every page that promises one has it.
pub(crate) fn snippets(workspace: &Workspace) -> Result<()> {
    let mut problems = Vec::new();
    let mut shown: BTreeSet<(PathBuf, String)> = BTreeSet::new();
    for page in pages(workspace)? {
        for snippet in marked(&read(workspace, &page)?) {
            let (file, code) = match snippet {
                Ok(snippet) => snippet,
                Err(problem) => {
                    problems.push(format!("{}: {problem}", page.display()));
                    continue;
                }
            };
            match fs::read_to_string(workspace.at(&file)) {
                Ok(text) if text == code => {}
                Ok(_) => {
                    problems.push(format!("{}: the block of {file} differs from the file", page.display()))
                }
                Err(error) => problems.push(format!("{}: {file}: {error}", page.display())),
            }
            shown.insert((page.clone(), file));
        }
    }
    for (page, folder) in SHOWN {
        if !shown.iter().any(|(on, file)| on == Path::new(page) && file.starts_with(folder)) {
            problems.push(format!("{page}: shows no file of {folder}"));
        }
    }
    fail(problems)
}

/// Each marked block of a page: the file it names and its code.
fn marked(page: &str) -> Vec<Result<(String, String), String>> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(file) = line.trim().strip_prefix(MARK).and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        if !lines.next().is_some_and(|fence| fence.starts_with("```")) {
            found.push(Err(format!("no fenced block follows the mark of {file}")));
            continue;
        }
        let mut code = String::new();
        let closed = lines.by_ref().any(|line| {
            if line == "```" {
                return true;
            }
            code.push_str(line);
            code.push('\n');
            false
        });
        found.push(if closed {
            Ok((file.to_owned(), code))
        } else {
            Err(format!("the block of {file} does not end"))
        });
    }
    found
}

/// Every relative link leads to a file of the work tree.
pub(crate) fn links(workspace: &Workspace) -> Result<()> {
    let mut problems = Vec::new();
    for page in pages(workspace)? {
        let folder = page.parent().unwrap_or(Path::new("")).to_owned();
        for target in targets(&read(workspace, &page)?) {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
                continue;
            }
            if !workspace.at(folder.join(path)).exists() {
                problems.push(format!("{}: the link to {target} leads nowhere", page.display()));
            }
        }
    }
    fail(problems)
}

/// Link targets outside fenced blocks.
fn targets(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            if let Some(end) = line[at + 2..].find(')') {
                found.push(line[at + 2..at + 2 + end].to_owned());
            }
        }
    }
    found
}

/// Every page below docs/ stands in its SUMMARY.md.
pub(crate) fn summary(workspace: &Workspace) -> Result<()> {
    let list = targets(&read(workspace, Path::new("docs/SUMMARY.md"))?);
    let missing: Vec<_> = pages(workspace)?
        .into_iter()
        .filter(|page| page.starts_with("docs") && !page.ends_with("SUMMARY.md"))
        .filter(|page| {
            let name = page.strip_prefix("docs").unwrap_or(page).display().to_string();
            !list.contains(&name)
        })
        .map(|page| format!("docs/SUMMARY.md: lacks {}", page.display()))
        .collect();
    fail(missing)
}

fn fail(problems: Vec<String>) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{}", problems.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_blocks_are_read_whole_and_faults_are_named() {
        let page = "text\n<!-- file: a/b.py -->\n```python\nx = 1\n\ny = 2\n```\n<!-- file: c -->\nno fence\n\
            <!-- file: d -->\n```\nopen\n";
        let found = marked(page);
        assert_eq!(found[0], Ok(("a/b.py".to_owned(), "x = 1\n\ny = 2\n".to_owned())));
        assert!(found[1].as_ref().is_err_and(|problem| problem.contains(" c")));
        assert!(found[2].as_ref().is_err_and(|problem| problem.contains("does not end")));
    }

    #[test]
    fn links_inside_code_are_none() {
        let page = "see [a](b.md#part) and [c](https://example.org)\n```\n[x](y)\n```\n";
        assert_eq!(targets(page), ["b.md#part", "https://example.org"]);
    }
}
