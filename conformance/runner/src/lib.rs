//! Cases as data, run against modules, SDKs and hosts of Modberth.
