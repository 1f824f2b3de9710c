//! Process protocol 1.
