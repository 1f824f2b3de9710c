//! The bytes of every filter, run for every call number, against the list read line by line.

use super::evaluate::run;
use super::{ARCHITECTURES, Call, PROFILES};
use crate::seccomp::compile::compile;
use crate::seccomp::numbers::{Architecture, NUMBERS};
use crate::seccomp::policy::{ABSENT, ALLOWED, CONDITIONAL, Check, Sockets};

const ALLOW: u32 = 0x7FFF_0000;
const KILL: u32 = 0x8000_0000;
const EPERM: u32 = 0x0005_0001;
const ENOSYS: u32 = 0x0005_0000 | 38;

/// AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64, AUDIT_ARCH_I386, AUDIT_ARCH_ARM, and none.
const AUDITS: [u32; 5] = [0xC000_003E, 0xC000_00B7, 0x4000_0003, 0x4000_0028, 0];
const X32_BIT: u32 = 0x4000_0000;

/// What the list says.
fn expected(architecture: Architecture, sockets: Sockets, call: Call) -> u32 {
    if call.audit != architecture.audit() {
        return KILL;
    }
    if call.number > 450 {
        return ENOSYS;
    }
    let row = NUMBERS.iter().find(|row| {
        let number = match architecture {
            Architecture::X86_64 => row.1,
            Architecture::Aarch64 => row.2,
        };
        number == Some(call.number)
    });
    let Some(&(name, ..)) = row else { return EPERM };
    let allowed = ALLOWED.iter().any(|group| group.scope.holds(sockets) && group.names.contains(&name));
    let conditional = || {
        let mut rows = CONDITIONAL.iter().filter(|row| row.name == name && row.scope.holds(sockets));
        rows.any(|row| row.checks.iter().all(|check| holds(check, &call.arguments)))
    };
    if allowed || conditional() {
        ALLOW
    } else if ABSENT.contains(&name) {
        ENOSYS
    } else {
        EPERM
    }
}

fn holds(check: &Check, arguments: &[u64; 6]) -> bool {
    match *check {
        Check::Word { argument, mask, one_of } => {
            one_of.contains(&(arguments[usize::from(argument)] as u32 & mask))
        }
        Check::Zero { argument } => arguments[usize::from(argument)] == 0,
    }
}

/// Arguments on every edge of every condition: each value, its neighbours, and the same with other bits around it, in
/// one argument at a time while the others fit.
pub(super) fn edges(name: &str) -> Vec<[u64; 6]> {
    let mut found = vec![[0; 6], [u64::MAX; 6], [1; 6], [1 << 32; 6]];
    for row in CONDITIONAL.iter().filter(|row| row.name == name) {
        let mut fitting = [0; 6];
        for check in row.checks {
            if let Check::Word { argument, one_of, .. } = *check {
                fitting[usize::from(argument)] = u64::from(one_of[0]);
            }
        }
        for check in row.checks {
            let (argument, values) = match *check {
                Check::Word { argument, mask, one_of } => {
                    let around = one_of.iter().flat_map(|value| {
                        let value = u64::from(*value);
                        let beside = u64::from(!mask);
                        let bits = (0..64).map(move |bit| value ^ 1 << bit);
                        [value, value.wrapping_sub(1), value + 1, value | beside, value | u64::MAX << 32]
                            .into_iter()
                            .chain(bits)
                    });
                    (argument, around.collect::<Vec<_>>())
                }
                Check::Zero { argument } => (argument, (0..64).map(|bit| 1 << bit).chain([0]).collect()),
            };
            for value in values {
                let mut arguments = fitting;
                arguments[usize::from(argument)] = value;
                found.push(arguments);
            }
        }
    }
    found
}

// P1-HOST-28
#[test]
fn every_number_gets_the_verdict_of_the_list() {
    for architecture in ARCHITECTURES {
        for sockets in PROFILES {
            let filter = compile(architecture, sockets);
            for audit in AUDITS {
                let beyond = [1023, 4095, X32_BIT - 1, u32::MAX];
                for number in (0..=600).chain((0..=600).map(|number| number | X32_BIT)).chain(beyond) {
                    for arguments in [[0; 6], [u64::MAX; 6]] {
                        let call = Call { number, audit, arguments };
                        assert_eq!(
                            run(&filter, call),
                            expected(architecture, sockets, call),
                            "{architecture:?} {sockets:?} {call:x?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn conditions_hold_on_every_edge() {
    for architecture in ARCHITECTURES {
        for sockets in PROFILES {
            let filter = compile(architecture, sockets);
            for (name, x86_64, aarch64) in NUMBERS {
                let number = if architecture == Architecture::X86_64 { x86_64 } else { aarch64 };
                let Some(number) = *number else { continue };
                for arguments in edges(name) {
                    let call = Call { number, audit: architecture.audit(), arguments };
                    assert_eq!(
                        run(&filter, call),
                        expected(architecture, sockets, call),
                        "{name} {architecture:?} {sockets:?} {call:x?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_number_with_the_bit_of_x32_is_absent() {
    for sockets in PROFILES {
        let filter = compile(Architecture::X86_64, sockets);
        // read, and ptrace of x32's own range.
        for number in [X32_BIT, X32_BIT | 521] {
            let call = Call { number, audit: 0xC000_003E, arguments: [0; 6] };
            assert_eq!(run(&filter, call), ENOSYS);
        }
    }
}

/// The kernel's time for loading a filter grows with its length.
#[test]
fn filters_are_short() {
    for architecture in ARCHITECTURES {
        for (sockets, most) in PROFILES.into_iter().zip([224, 240, 288, 296]) {
            let length = compile(architecture, sockets).len();
            assert!(length <= most, "{architecture:?} {sockets:?}: {length} instructions, at most {most}");
        }
    }
}
