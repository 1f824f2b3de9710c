//! Writing archives.

use std::io::{Cursor, Write as _};

use modberth_protocol::{Code, Violation};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{Contents, too_large};
use crate::limits::{ARCHIVE_BYTES, MANIFEST_NAME};

/// The archive of a canonical manifest and its contents. Tests hold its exact bytes, so that no new version of the
/// library changes the identity of packages unseen.
pub(crate) fn write(manifest: &[u8], contents: &Contents) -> Result<Vec<u8>, Violation> {
    let size: usize = contents.values().map(Vec::len).sum();
    if size > ARCHIVE_BYTES {
        return Err(too_large(size));
    }
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut members: Vec<(&str, &[u8])> =
        contents.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    members.push((MANIFEST_NAME, manifest));
    members.sort_unstable();
    let mut writer = ZipWriter::new(Cursor::new(Vec::with_capacity(size + 65_536)));
    let written = members
        .into_iter()
        .try_for_each(|(path, bytes)| {
            writer.start_file(path, options)?;
            writer.write_all(bytes)?;
            Ok(())
        })
        .and_then(|()| writer.finish());
    let bytes = written
        .map_err(|error: zip::result::ZipError| {
            Violation::new(Code::PackageIo, format!("The archive could not be written: {error}."))
        })?
        .into_inner();
    if bytes.len() > ARCHIVE_BYTES { Err(too_large(bytes.len())) } else { Ok(bytes) }
}
