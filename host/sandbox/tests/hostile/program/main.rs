//! A program that behaves badly on purpose: `hostile NAME MARKER [KEY=VALUE…]`.
//!
//! The tests of this crate launch it and look for MARKER in the process table afterwards. Each behaviour tries one thing
//! as a determined attacker would, in every way that leads there, and prints one line: `stopped HOW…`, where HOW is what
//! the machine answered (several answers stand with `+` between them), or `got-through BY…`. The keys say what the test
//! has put up outside for it to reach.
//!
//! Every behaviour bounds itself, should nobody stop it: at most 64 processes, 256 MiB, 2 seconds of spinning. What would
//! harm a machine that does not confine it is harmless by construction: a wrong magic number, a path that leads nowhere,
//! a value set to what it is. The answer then tells who refused.

mod attempt;
mod descriptors;
mod files;
mod forks;
mod identity;
mod kernel;
mod lives;
mod machine;
mod memory;
mod namespaces;
mod network;
mod signals;
mod streams;

use std::collections::BTreeMap;
use std::path::PathBuf;

use attempt::Verdict;

/// What the program was told about its surroundings.
pub(crate) struct Ground {
    facts: BTreeMap<String, String>,
}

impl Ground {
    /// A fact of the test; empty where it gave none.
    pub(crate) fn fact(&self, key: &str) -> &str {
        self.facts.get(key).map_or("", String::as_str)
    }

    /// A folder where the program may write. All it makes lies below.
    pub(crate) fn scratch(&self) -> PathBuf {
        std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
    }
}

/// A behaviour and its name.
pub(crate) type Behaviour = (&'static str, fn(&Ground) -> Verdict);

/// All of them, by family.
const FAMILIES: [&[Behaviour]; 11] = [
    forks::ALL,
    memory::ALL,
    files::ALL,
    namespaces::ALL,
    network::ALL,
    kernel::ALL,
    machine::ALL,
    descriptors::ALL,
    signals::ALL,
    identity::ALL,
    streams::ALL,
];

fn main() {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    if name == "list" {
        FAMILIES.iter().copied().flatten().for_each(|(name, _)| println!("{name}"));
        return;
    }
    let facts = words
        .filter_map(|word| word.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())))
        .collect();
    match FAMILIES.iter().copied().flatten().find(|(known, _)| *known == name) {
        Some((_, behaviour)) => println!("{}", behaviour(&Ground { facts })),
        None if lives::run(&name) => {}
        None => {
            eprintln!("hostile: no behaviour {name:?}");
            std::process::exit(64);
        }
    }
}
