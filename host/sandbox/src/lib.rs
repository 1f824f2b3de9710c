//! Launching and stopping module processes for Modberth.
