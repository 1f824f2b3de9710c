//! The three streams.

use crate::drive::Drive;
use crate::row::Shown::Outside;
use crate::row::{Row, broke_pipe, ended_with_7, killed_by_host, left_unread, outcome};

pub(crate) const ROWS: &[Row] = &[
    outcome("stdout-flood", Outside(killed_by_host)).driven(Drive::FloodsOutput),
    outcome("stderr-flood", Outside(killed_by_host)).driven(Drive::FloodsErrors),
    outcome("stdout-bytes", Outside(killed_by_host)).driven(Drive::FloodsOutput),
    outcome("stdin-unread", Outside(left_unread)).driven(Drive::WritesInput),
    outcome("stdin-closed", Outside(broke_pipe)).driven(Drive::WritesInput),
    outcome("early-exit", Outside(ended_with_7)),
];
