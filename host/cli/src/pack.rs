//! `modberth pack`: a package folder as an archive.

use modberth_package::pack_folder;
use modberth_package::save::{Saved, save};
use serde_json::json;

use crate::args::Pack;
use crate::exit::{Exit, Stop};
use crate::report::{DIM, GOOD, Report, name};
use crate::source;

pub(crate) fn pack(arguments: &Pack, report: &mut Report) -> Result<Exit, Stop> {
    let packed = pack_folder(&arguments.folder)?;
    let manifest = &packed.package.manifest;
    let path = match &arguments.output {
        Some(output) if output.is_dir() => output.join(manifest.archive_name()),
        Some(output) => output.clone(),
        None => manifest.archive_name().into(),
    };
    let saved = save(&packed.bytes, &path, arguments.force)?;
    for warning in &packed.warnings {
        report.warning(&warning.message)?;
    }
    if report.is_json() {
        report.document(&json!({
            "ok": true,
            "path": source::label(&path),
            "id": manifest.id,
            "version": manifest.version,
            "digest": packed.package.digest,
            "bytes": packed.bytes.len(),
            "written": saved == Saved::Written,
            "warnings": packed.warnings,
        }))?;
    } else {
        let word = match saved {
            Saved::Written => "packed",
            Saved::Same => "unchanged",
        };
        report.line(&format!(
            "{GOOD}{word}{GOOD:#} {} {DIM}{} bytes, manifest.json and {} files, digest{DIM:#} {}",
            name(&source::label(&path)),
            packed.bytes.len(),
            packed.package.members.len(),
            packed.package.digest
        ))?;
    }
    Ok(Exit::Success)
}
