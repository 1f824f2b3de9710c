//! All rows, by family.

mod descriptors;
mod files;
mod forks;
mod identity;
mod kernel;
mod machine;
mod memory;
mod namespaces;
mod network;
mod signals;
mod streams;

use crate::row::Row;

static FAMILIES: [&[Row]; 11] = [
    forks::ROWS,
    memory::ROWS,
    files::ROWS,
    namespaces::ROWS,
    network::ROWS,
    kernel::ROWS,
    machine::ROWS,
    descriptors::ROWS,
    signals::ROWS,
    identity::ROWS,
    streams::ROWS,
];

/// All rows.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().copied().flatten()
}
