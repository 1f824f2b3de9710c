//! Texts.
