//! From the list to instructions of classic BPF.
//!
//! Each action loads a filter, so what counts is how long that takes. The kernel follows a filter once for each call
//! number, to find those that are always allowed, and gives up at the first instruction that calculates: so one
//! stands first. Then it translates the filter to machine code, which takes a time that grows with the length. So the
//! list becomes a bitmap of the numbers, looked up by a shift, and no chain of comparisons.

use super::numbers::{Architecture, END};
use super::policy::{ABSENT, ALLOWED, CONDITIONAL, Check, Sockets};

// Offsets in `struct seccomp_data`. Both architectures are little-endian: the low half comes first.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IMMEDIATE: u32 = libc::BPF_LD | libc::BPF_IMM;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const SHIFT_LEFT: u32 = libc::BPF_ALU | libc::BPF_LSH | libc::BPF_X;
const TO_X: u32 = libc::BPF_MISC | libc::BPF_TAX;
const FROM_X: u32 = libc::BPF_MISC | libc::BPF_TXA;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const ABOVE: u32 = libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K;
const ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;

/// What the filter answers.
pub(super) const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
/// The process is killed by SIGSYS.
pub(super) const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
/// The call fails with EPERM.
pub(super) const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
/// The call fails with ENOSYS.
pub(super) const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// Bits in a word of the bitmap.
const WORD: u32 = 32;
const WORDS: usize = END.div_ceil(WORD) as usize;

type Code = Vec<libc::sock_filter>;

/// The filter of an architecture and a set of socket families.
pub(super) fn compile(architecture: Architecture, sockets: Sockets) -> Code {
    let bitmap = bitmap(architecture, sockets);
    let mut code = vec![
        // Sets X to zero, to no end but that the kernel gives up here.
        plain(TO_X, 0),
        plain(LOAD, ARCHITECTURE),
        jump(EQUAL, architecture.audit(), 1, 0),
        plain(RETURN, KILL),
        // The number's bit in its word goes to X: 1 << (number % 32).
        plain(LOAD, NUMBER),
        plain(AND, WORD - 1),
        plain(TO_X, 0),
        plain(IMMEDIATE, 1),
        plain(SHIFT_LEFT, 0),
        plain(TO_X, 0),
        plain(LOAD, NUMBER),
        // Numbers of x32 are beyond the end, too.
        jump(AT_LEAST, END, 0, 1),
        plain(RETURN, ENOSYS),
    ];
    search(&mut code, &bitmap, 0, lookup_size(&bitmap));
    code.push(plain(RETURN, ALLOW));
    // Here is who has no bit.
    code.push(plain(LOAD, NUMBER));
    let mut rows = CONDITIONAL;
    while let Some(first) = rows.first() {
        let (same, rest) = rows.split_at(rows.iter().take_while(|row| row.name == first.name).count());
        rows = rest;
        let Some(number) = architecture.number(first.name) else { continue };
        let mut block = Code::new();
        for row in same.iter().filter(|row| row.scope.holds(sockets)) {
            block.extend(alternative(row.checks));
        }
        if !block.is_empty() {
            block.push(plain(RETURN, EPERM));
            code.push(jump(EQUAL, number, 0, block.len()));
            code.extend(block);
        }
    }
    let absent: Vec<u32> = ABSENT.iter().filter_map(|name| architecture.number(name)).collect();
    for (at, number) in absent.iter().enumerate() {
        code.push(jump(EQUAL, *number, absent.len() - at, 0));
    }
    code.extend([plain(RETURN, EPERM), plain(RETURN, ENOSYS)]);
    code
}

/// A bit for each number that is let through without conditions.
fn bitmap(architecture: Architecture, sockets: Sockets) -> [u32; WORDS] {
    let mut bitmap = [0; WORDS];
    let names = ALLOWED.iter().filter(|group| group.scope.holds(sockets)).flat_map(|group| group.names);
    for number in names.filter_map(|name| architecture.number(name)) {
        if let Some(word) = bitmap.get_mut((number / WORD) as usize) {
            *word |= 1 << (number % WORD);
        }
    }
    bitmap
}

/// Finds the word of a number (in A) by halving and tests the bit (in X). Behind the `end` instructions of the whole
/// search comes first what is done with a bit, then what is done without. `words` begin at `first`; `end` counts from
/// here.
fn search(code: &mut Code, words: &[u32], first: u32, end: usize) {
    match words {
        // Neighbours that are alike share one test. So do most numbers that nobody uses.
        [word, rest @ ..] if rest.iter().all(|other| other == word) => {
            code.push(plain(FROM_X, 0));
            code.push(jump(ANY_BIT, *word, end - 2, end - 1));
        }
        _ => {
            let (low, high) = words.split_at(words.len() / 2);
            let middle = first + low.len() as u32;
            let size = lookup_size(low);
            code.push(jump(AT_LEAST, middle * WORD, size, 0));
            search(code, low, first, end - 1);
            search(code, high, middle, end - 1 - size);
        }
    }
}

/// How many instructions [`search`] makes.
fn lookup_size(words: &[u32]) -> usize {
    match words {
        [word, rest @ ..] if rest.iter().all(|other| other == word) => 2,
        _ => {
            let (low, high) = words.split_at(words.len() / 2);
            1 + lookup_size(low) + lookup_size(high)
        }
    }
}

/// Allows where all checks hold, and otherwise goes on behind itself.
fn alternative(checks: &[Check]) -> Code {
    // From the last check to the first: each one must know how much there is to leap over.
    checks.iter().rev().fold(vec![plain(RETURN, ALLOW)], |rest, check| {
        let mut code = match *check {
            Check::Word { argument, mask, one_of } => {
                let mut code = vec![plain(LOAD, low_half(argument))];
                if mask != u32::MAX {
                    code.push(plain(AND, mask));
                }
                code.extend(membership(one_of, rest.len()));
                code
            }
            Check::Zero { argument } => vec![
                plain(LOAD, low_half(argument)),
                jump(EQUAL, 0, 0, 2 + rest.len()),
                plain(LOAD, low_half(argument) + 4),
                jump(EQUAL, 0, 0, rest.len()),
            ],
        };
        code.extend(rest);
        code
    })
}

/// Goes on where A is one of the values (sorted), and leaps over the next `otherwise` instructions where it is not.
fn membership(values: &[u32], otherwise: usize) -> Code {
    // From the last to the first, as above. Before the first turn nothing is left to compare with.
    let runs: Vec<&[u32]> = values.chunk_by(|left, right| left.checked_add(1) == Some(*right)).collect();
    runs.iter().rev().fold(Code::new(), |rest, run| {
        let next = if rest.is_empty() { otherwise } else { 0 };
        let mut code = Code::new();
        match **run {
            [first, _, .., last] => {
                // Beyond it: one of the later values. Before it: none, for earlier ones were asked for already.
                if first == 0 {
                    code.push(jump(ABOVE, last, next, rest.len()));
                } else {
                    code.push(jump(ABOVE, last, 1 + next, 0));
                    code.push(jump(AT_LEAST, first, rest.len(), rest.len() + otherwise));
                }
            }
            ref few => {
                for (at, value) in few.iter().enumerate() {
                    let after = few.len() - 1 - at;
                    code.push(jump(EQUAL, *value, after + rest.len(), if after == 0 { next } else { 0 }));
                }
            }
        }
        code.extend(rest);
        code
    })
}

/// Where the low half of an argument stands.
fn low_half(argument: u8) -> u32 {
    ARGUMENTS + 8 * u32::from(argument)
}

/// An instruction that does not jump.
fn plain(code: u32, k: u32) -> libc::sock_filter {
    jump(code, k, 0, 0)
}

/// An instruction that leaps over `yes` or `no` others.
fn jump(code: u32, k: u32, yes: usize, no: usize) -> libc::sock_filter {
    // The list is a constant and the tests build every filter there is, so a longer leap does not leave this house.
    debug_assert!(yes <= 255 && no <= 255, "a leap over {yes} or {no} instructions, at most 255");
    libc::sock_filter { code: code as u16, jt: yes as u8, jf: no as u8, k }
}
