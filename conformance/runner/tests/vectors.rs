//! Six languages.
