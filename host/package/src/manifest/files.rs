//! The inventory: which members a package has, and the digest of each.

use std::collections::{BTreeMap, BTreeSet};

use modberth_protocol::Code;
use modberth_protocol::json::Raw;

use crate::digest::Digest;
use crate::fields;
use crate::limits::{FILES, MANIFEST_NAME};
use crate::member;
use crate::problem::{At, Sink};

pub(super) fn read(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<BTreeMap<String, Digest>> {
    let object = fields::object(raw, at, sink)?;
    if !fields::count(object.entries().len(), at, sink, 0, FILES) {
        return None;
    }
    let before = sink.len();
    let mut files = BTreeMap::new();
    let mut folded = BTreeSet::new();
    for (path, raw) in object.entries() {
        let at = at.name(path);
        if let Err(fault) = member::check_path(path) {
            sink.at(
                &at,
                Code::PackageMemberPath,
                format!("{} is no member path: {}.", fields::shown(path), fault.rule()),
            );
        } else if member::folded(path) == MANIFEST_NAME {
            sink.at(&at, Code::PackageFilesManifest, "files never lists manifest.json, in any case.");
        } else if !folded.insert(member::folded(path)) {
            sink.at(
                &at,
                Code::PackageMemberDuplicate,
                format!("Another file differs from {} only in case.", fields::shown(path)),
            );
        } else if let Some(digest) = digest(*raw, &at, sink) {
            files.insert(path.clone().into_owned(), digest);
        }
    }
    (sink.len() == before).then_some(files)
}

fn digest(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<Digest> {
    let digest = raw.as_str().and_then(|text| text.parse().ok());
    if digest.is_none() {
        sink.at(at, Code::PackageFilesDigest, "A digest is a string of 64 lower-case hexadecimal digits.");
    }
    digest
}
