//! Packages made for a measurement: one native module from one C source, built with the machine's C compiler.

use modberth_host::Module;
use modberth_package::Folder;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The one action of a made package; it takes no parameters.
pub(super) const ACTION: &str = "run";

/// Builds the package folder. `name` is the entry, and so the module's command line and process name.
pub(super) fn build(name: &str, source: &str) -> Result<TempDir, String> {
    let failed =
        |what: &str, error: &dyn std::fmt::Display| format!("making the module {name}: {what}: {error}");
    let folder = tempfile::tempdir().map_err(|error| failed("a folder", &error))?;
    let payload = folder.path().join("payload");
    fs::create_dir(&payload).map_err(|error| failed("payload", &error))?;
    let manifest = manifest(name).to_string();
    fs::write(folder.path().join("manifest.json"), manifest)
        .map_err(|error| failed("the manifest", &error))?;
    let code = folder.path().join("module.c");
    fs::write(&code, source).map_err(|error| failed("the source", &error))?;
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let built = Command::new(&compiler)
        .args(["-O2", "-D_GNU_SOURCE", "-o"])
        .args([&payload.join(name), &code])
        .output()
        .map_err(|error| failed(&compiler.to_string_lossy(), &error))?;
    if !built.status.success() {
        return Err(failed("the compiler", &String::from_utf8_lossy(&built.stderr).trim()));
    }
    // Modules run under a user of their own.
    for path in [folder.path(), &payload, &payload.join(name)] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
            .map_err(|error| failed("modes", &error))?;
    }
    Ok(folder)
}

/// Opens a package folder.
pub(super) fn open(folder: &Path) -> Result<Module, String> {
    Folder::open(folder).map(Module::from).map_err(|violation| violation.to_string())
}

fn manifest(name: &str) -> serde_json::Value {
    json!({
        "format_version": 1, "contract_version": 1, "host_api": 1,
        "id": "org.example.bench", "version": "1.0.0", "category": "productivity",
        "runtime": {
            "kind": "native", "language": "c", "entry": name, "platform": "linux",
            "architecture": std::env::consts::ARCH, "protocol": 1
        },
        "capabilities": [], "dependencies": [],
        "actions": [{"id": ACTION, "capabilities": [], "parameters": {}}],
        "ui": {"type": "column", "children": []}, "files": {}
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_modules_build_into_packages() {
        for (name, source) in
            [("stubborn", include_str!("modules/stubborn.c")), ("hold", include_str!("modules/hold.c"))]
        {
            let folder = build(name, source).unwrap();
            let module = open(folder.path()).unwrap();
            assert_eq!(module.package.manifest.runtime.process().unwrap().entry, name);
        }
    }

    #[test]
    fn a_source_that_does_not_build_is_told() {
        let problem = build("broken", "int main(void) { return ; oops }").unwrap_err();
        assert!(problem.starts_with("making the module broken: the compiler:"), "{problem}");
    }
}
