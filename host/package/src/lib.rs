//! Module packages of Modberth: manifest, parameter schemas, archives, digests.
