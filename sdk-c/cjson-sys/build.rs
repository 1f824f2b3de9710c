//! Builds the C SDK against the system's cJSON.

use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sdk = Path::new("..");
    let cjson = pkg_config::Config::new()
        .atleast_version("1.7.15")
        .probe("libcjson")
        .map_err(|error| format!("cJSON is needed (in Debian: libcjson-dev): {error}"))?;
    let mut sources: Vec<PathBuf> = std::fs::read_dir(sdk.join("src"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    cc::Build::new()
        .files(sources)
        .file("src/native/shim.c")
        .include(sdk.join("include"))
        .include(sdk.join("src"))
        .includes(cjson.include_paths)
        .define("_POSIX_C_SOURCE", "200809L")
        .std("c99")
        .extra_warnings(true)
        .try_compile("modberth_sdk_c")?;
    println!("cargo::rustc-link-lib=m");
    for folder in [sdk.join("src"), sdk.join("include"), PathBuf::from("src/native")] {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    Ok(())
}
