//! What is tested: the texts of all arrangements as values, and on this machine, as root, what the kernel does.

mod arrangements;
mod delegation;
mod limits;
mod support;
mod trees;
