#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod archive;
pub mod digest;
mod fields;
pub mod folder;
pub mod hints;
pub mod install;
pub mod limits;
pub mod manifest;
pub mod member;
pub mod native;
mod package;
pub mod parameters;
mod problem;
pub mod save;
mod ui;
mod words;

pub use archive::{Archive, Packed, pack};
pub use digest::Digest;
pub use folder::{Folder, pack_folder};
pub use hints::Hints;
pub use manifest::Manifest;
pub use package::{Member, Package};
pub use problem::{Problems, Warning};
