//! Delegation.
