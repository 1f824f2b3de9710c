//! The crate does no input or output: nothing in its source names a way to.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_source_names_no_way_to_do_input_or_output() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 15);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for word in [
            "std::io",
            "std::fs",
            "std::net",
            "std::os",
            "std::process",
            "std::env",
            "std::thread",
            "std::time",
            "println!",
            "eprint",
            "dbg!",
            "unsafe ",
        ] {
            assert!(!text.contains(word), "{} names {word}", file.display());
        }
    }
}
