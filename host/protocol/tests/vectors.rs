//! Every vector for strict JSON under three profiles.

use modberth_conformance::vectors::{self, Bounds, Vector};
use modberth_protocol::json::{Checker, Profile, parse};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

/// 32 levels with the root counted as 1, and nothing else.
const LEVELS_32: Profile = Profile { max_depth: 31, ..Profile::WIRE };

const RESERVED: [&str; 2] = ["magic_serde_number", "magic_serde_raw"];

/// P1-HOST-17 to P1-HOST-22, P1-HOST-35: the code of the first fault, or none, is exactly that of the vector.
#[test]
fn every_vector_has_its_verdict_under_three_profiles() {
    let mut checker = Checker::new();
    let mut wrong = Vec::new();
    for vector in vectors::all().unwrap() {
        for (bounds, profile) in [
            (Bounds::Levels32, LEVELS_32),
            (Bounds::Process, Profile::PROCESS),
            (Bounds::Wire, Profile::WIRE),
        ] {
            // Reserved names are refused whatever the bounds.
            let expected = match vector.code(bounds) {
                None if RESERVED.contains(&vector.name.as_str()) => Some("json.reserved_key"),
                code => code,
            };
            let actual = checker.check(&vector.bytes, &profile).err();
            if actual.as_ref().map(|violation| violation.code.as_str()) != expected {
                wrong.push(format!("{} under {bounds:?}: {actual:?}, not {expected:?}", vector.name));
            }
            if let Some(violation) = actual {
                let offset = violation.place.offset.unwrap();
                assert!(offset <= vector.bytes.len() as u64, "{}: byte {offset}", vector.name);
                assert!(!violation.message.contains('\n'));
            }
            assert_eq!(parse(&vector.bytes, &profile).is_ok(), expected.is_none(), "{}", vector.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The process profile turns these accepted documents of the frozen set into refusals, and no others.
#[test]
fn the_process_profile_turns_six_of_the_frozen_vectors() {
    let turned: Vec<_> = vectors::accepted()
        .unwrap()
        .into_iter()
        .take(vectors::FROZEN_ACCEPTED)
        .filter_map(|vector| Some((vector.name.clone(), vector.code(Bounds::Process)?.to_owned())))
        .collect();
    let turned: Vec<_> = turned.iter().map(|(name, code)| (name.as_str(), code.as_str())).collect();
    assert_eq!(
        turned,
        [
            ("nodup_2000", "json.entries"),
            ("depth_arr_32", "json.depth"),
            ("depth_obj_32", "json.depth"),
            ("depth_wide", "json.entries"),
            ("magic_serde_number", "json.reserved_key"),
            ("magic_serde_raw", "json.reserved_key"),
        ]
    );
}

/// The bytes of the first vectors never change.
#[test]
fn the_frozen_vectors_are_unchanged() {
    let digest = |vectors: &[Vector]| {
        let mut hash = Sha256::new();
        for vector in vectors {
            hash.update((vector.bytes.len() as u32).to_be_bytes());
            hash.update(&vector.bytes);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    assert_eq!(
        digest(&vectors::accepted().unwrap()[..vectors::FROZEN_ACCEPTED]),
        "2653115ac54c580ad4665c4c9370fd7b7f7e21494edf3caf7fe1707e310bce72"
    );
    assert_eq!(
        digest(&vectors::refused().unwrap()[..vectors::FROZEN_REFUSED]),
        "5e9aefe560fbea388f7bdf314c4e47765d4a6c27b960356bfa003f39043dbe01"
    );
}

#[test]
fn names_are_unique_and_every_refusal_has_a_code_of_the_list() {
    let all = vectors::all().unwrap();
    let names: BTreeSet<_> = all.iter().map(|vector| &vector.name).collect();
    assert_eq!(names.len(), all.len());
    for vector in &all {
        for bounds in [Bounds::Levels32, Bounds::Process, Bounds::Wire] {
            if let Some(code) = vector.code(bounds) {
                assert!(code.parse::<modberth_protocol::Code>().is_ok(), "{code}");
            }
        }
    }
    for vector in vectors::refused().unwrap() {
        assert!(vector.code(Bounds::Levels32).is_some(), "{}", vector.name);
    }
}
