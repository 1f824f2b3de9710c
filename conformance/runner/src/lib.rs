//! Cases as data, run against modules, SDKs and hosts of Modberth.
//!
//! What stands here so far are the parts every run of a process module needs:
//!
//! * [`subject`] starts one module, feeds it exact bytes in exact pieces and observes what it does.
//! * [`message`] builds the two frames of a protocol 1 request, right ones and deliberately wrong ones.
//! * [`answer`] reads what the module gave: an outcome per target, or the reason why there is none.
//! * [`compare`] compares JSON documents, numbers as numbers.
//! * [`bytes`] expands bytes as case files write them, and [`vectors`] reads the vectors for strict JSON.

pub mod answer;
pub mod bytes;
pub mod compare;
pub mod message;
pub mod subject;
pub mod vectors;
