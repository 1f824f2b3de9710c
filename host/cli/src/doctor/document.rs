//! The diagnosis as JSON: `conformance/schema/doctor.v1.schema.json` in the repository.

use std::path::Path;

use modberth_sandbox::doctor::{Machine, checks};
use serde_json::{Map, Value, json};

use super::{Diagnosis, kind};
use crate::exit::Exit;
use crate::report::failure;
use crate::source::label;

pub(super) fn document(diagnosis: &Diagnosis) -> Value {
    let found = &diagnosis.found;
    json!({
        "format": 1,
        "ok": diagnosis.exit() == Exit::Success,
        "confined": diagnosis.is_confined(),
        "machine": machine(&found.machine),
        "interpreters": diagnosis.interpreters.iter().map(|(found, interpreter)| match interpreter {
            Ok(interpreter) => json!({
                "kind": kind(*found), "version": interpreter.version, "path": label(&interpreter.path),
            }),
            Err(violation) => json!({"kind": kind(*found), "failure": failure(violation)}),
        }).collect::<Vec<_>>(),
        "limits": limits(diagnosis),
        "layers": layers(diagnosis),
        "missing": found.missing.iter().map(|one| json!({
            "what": one.what, "why": one.why, "path": one.path.as_deref().map(label), "needed": one.needed,
        })).collect::<Vec<_>>(),
        "fixes": found.fixes.iter().map(|fix| json!({
            "brings": fix.brings, "way": fix.way, "steps": fix.steps,
        })).collect::<Vec<_>>(),
    })
}

fn machine(machine: &Machine) -> Value {
    let place = |path: &Path| label(path);
    json!({
        "kernel": machine.kernel,
        "architecture": machine.architecture,
        "user": machine.user,
        "root": machine.user == 0,
        "control_groups": {
            "kind": machine.groups,
            "delegated": !machine.places.is_empty(),
            "places": machine.places.iter().map(|one| json!({
                "limit": one.limit, "version": one.version, "path": place(&one.path),
            })).collect::<Vec<_>>(),
            "unused": machine.unused,
        },
        "swap": {"counted": machine.swap_counted, "in_use": machine.swap_in_use},
        "user_namespaces": machine.user_namespaces.iter().map(|one| json!({
            "name": one.name, "value": one.value, "wanted": one.wanted,
        })).collect::<Vec<_>>(),
        "seccomp": machine.seccomp,
        "landlock": machine.landlock,
    })
}

fn limits(diagnosis: &Diagnosis) -> Value {
    let limits = &diagnosis.found.limits;
    let each: Map<String, Value> = diagnosis
        .found
        .process_limits
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    json!({
        "memory_bytes": limits.memory_bytes,
        "swap_bytes": limits.swap_bytes,
        "tasks": limits.tasks,
        "cpu_percent": limits.cpu_percent,
        "scratch_bytes": limits.scratch_bytes,
        "scratch_files": limits.scratch_inodes,
        "open_files": limits.open_files,
        "each_process": each,
    })
}

/// Every layer, tried or not.
fn layers(diagnosis: &Diagnosis) -> Vec<Value> {
    let found = &diagnosis.found;
    checks()
        .iter()
        .map(|check| {
            let proof = diagnosis.proofs.iter().find(|proof| proof.check.name() == check.name());
            json!({
                "name": check.name(),
                "purpose": check.purpose(),
                "value": check.value(&found.limits, found.machine.landlock),
                "proof": check.proof(),
                "outcome": proof.map_or("not_tried", |proof| proof.outcome.as_str()),
                "seen": proof.map(|proof| proof.seen.as_str()),
                "took_ms": proof.map(|proof| u64::try_from(proof.took.as_millis()).unwrap_or(u64::MAX)),
            })
        })
        .collect()
}
