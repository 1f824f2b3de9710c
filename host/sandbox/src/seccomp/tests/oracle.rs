//! The same list given to the system's libseccomp: its program must judge every call as ours does.

use std::fs::File;
use std::io::{Read, Seek};

use libseccomp::{ScmpAction, ScmpArgCompare, ScmpCompareOp, ScmpFilterContext, ScmpSyscall};

use super::evaluate::run;
use super::instructions::edges;
use super::list::scmp;
use super::{ARCHITECTURES, Call, PROFILES};
use crate::seccomp::compile::compile;
use crate::seccomp::numbers::{Architecture, NUMBERS};
use crate::seccomp::policy::{ABSENT, ALLOWED, CONDITIONAL, Check, Sockets};

/// libseccomp's filter for the list. It resolves the names itself.
fn build(architecture: Architecture, sockets: Sockets) -> Vec<libc::sock_filter> {
    let arch = scmp(architecture);
    let mut filter = ScmpFilterContext::new(ScmpAction::Errno(libc::EPERM)).unwrap();
    filter.set_act_badarch(ScmpAction::KillProcess).unwrap();
    filter.remove_arch(libseccomp::ScmpArch::Native).unwrap();
    filter.add_arch(arch).unwrap();
    // A name that the architecture lacks has a negative number there; rules for it would be refused. Rules take the
    // number of this machine and translate it by its name.
    let here = |name: &str| {
        let there = ScmpSyscall::from_name_by_arch(name, arch).unwrap();
        (there.as_raw_syscall() >= 0).then(|| ScmpSyscall::from_name(name).unwrap())
    };
    for name in ALLOWED.iter().filter(|group| group.scope.holds(sockets)).flat_map(|group| group.names) {
        if let Some(call) = here(name) {
            filter.add_rule_exact(ScmpAction::Allow, call).unwrap();
        }
    }
    for row in CONDITIONAL.iter().filter(|row| row.scope.holds(sockets)) {
        let Some(call) = here(row.name) else { continue };
        for comparisons in every_way(row.checks) {
            filter.add_rule_conditional_exact(ScmpAction::Allow, call, &comparisons).unwrap();
        }
    }
    let absent = ABSENT.iter().filter_map(|name| here(name));
    for call in
        absent.chain((451..=last(architecture)).map(|number| ScmpSyscall::from_raw_syscall(number as i32)))
    {
        filter.add_rule_exact(ScmpAction::Errno(libc::ENOSYS), call).unwrap();
    }
    export(&filter)
}

/// The last number that is compared. Numbers without a name cannot be translated to another architecture.
fn last(architecture: Architecture) -> u32 {
    if architecture == Architecture::NATIVE { 600 } else { 450 }
}

/// libseccomp has no "one of": every combination becomes a rule.
fn every_way(checks: &[Check]) -> Vec<Vec<ScmpArgCompare>> {
    let mut ways = vec![Vec::new()];
    for check in checks {
        let choices: Vec<ScmpArgCompare> = match *check {
            Check::Word { argument, mask, one_of } => one_of
                .iter()
                .map(|value| {
                    let operation = ScmpCompareOp::MaskedEqual(mask.into());
                    ScmpArgCompare::new(argument.into(), operation, u64::from(*value))
                })
                .collect(),
            Check::Zero { argument } => vec![ScmpArgCompare::new(argument.into(), ScmpCompareOp::Equal, 0)],
        };
        ways = ways
            .iter()
            .flat_map(|way| choices.iter().map(|choice| way.iter().copied().chain([*choice]).collect()))
            .collect();
    }
    ways
}

/// The instructions, by way of a file: what libseccomp 2.5 can do.
fn export(filter: &ScmpFilterContext) -> Vec<libc::sock_filter> {
    let mut file: File = tempfile::tempfile().unwrap();
    filter.export_bpf(&file).unwrap();
    file.rewind().unwrap();
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    let instructions = bytes.chunks_exact(8).map(|bytes| libc::sock_filter {
        code: u16::from_le_bytes([bytes[0], bytes[1]]),
        jt: bytes[2],
        jf: bytes[3],
        k: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
    });
    instructions.collect()
}

#[test]
fn libseccomp_judges_every_call_alike() {
    for architecture in ARCHITECTURES {
        for sockets in PROFILES {
            let ours = compile(architecture, sockets);
            let theirs = build(architecture, sockets);
            let mut compared = 0;
            let mut compare = |call: Call| {
                let (ours, theirs) = (run(&ours, call), run(&theirs, call));
                assert_eq!(ours, theirs, "{architecture:?} {sockets:?} {call:x?}: ours, libseccomp's");
                compared += 1;
            };
            for number in 0..=last(architecture) {
                for audit in [architecture.audit(), 0x4000_0003, 0x4000_0028] {
                    for arguments in [[0; 6], [u64::MAX; 6]] {
                        compare(Call { number, audit, arguments });
                    }
                }
            }
            for (name, x86_64, aarch64) in NUMBERS {
                let number = if architecture == Architecture::X86_64 { x86_64 } else { aarch64 };
                let Some(number) = *number else { continue };
                for arguments in edges(name) {
                    compare(Call { number, audit: architecture.audit(), arguments });
                }
            }
            assert!(compared > 4000, "{compared}: the edges were compared, too");
        }
    }
}
