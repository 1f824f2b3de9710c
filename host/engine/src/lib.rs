//! The Modberth host as a library: one invocation from request to outcome.
