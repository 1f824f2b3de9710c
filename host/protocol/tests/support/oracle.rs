//! A second strict checker, built on serde's JSON reader, to test the first one against. It says yes or no, without a place.

use modberth_protocol::json::Profile;
use serde_json::Deserializer;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer as _, Error, MapAccess, SeqAccess, Visitor};

/// Whether the document keeps every rule of the profile. The profile must not allow more levels than serde's reader does: 127.
pub(crate) fn accepts(document: &[u8], profile: &Profile) -> bool {
    let Ok(text) = std::str::from_utf8(document) else { return false };
    let mut reader = Deserializer::from_str(text);
    let root = Value { profile, depth: 0 };
    let read = if profile.object_root { reader.deserialize_map(root) } else { root.deserialize(&mut reader) };
    read.and_then(|()| reader.end()).is_ok() && integers_in_range(text)
}

/// Integer literals beyond the reader's integers arrive there as floats, so the text itself is looked at. It is known to be JSON.
fn integers_in_range(text: &str) -> bool {
    let mut outside = String::new();
    let mut inside = false;
    let mut characters = text.chars();
    while let Some(found) = characters.next() {
        match found {
            '"' => inside = !inside,
            '\\' if inside => drop(characters.next()),
            _ if !inside => outside.push(found),
            _ => {}
        }
        if found == '"' {
            outside.push(' ');
        }
    }
    outside
        .split(|found: char| !(found.is_ascii_digit() || matches!(found, '-' | '+' | '.' | 'e' | 'E')))
        .filter(|token| token.starts_with(|first: char| first == '-' || first.is_ascii_digit()))
        .filter(|token| !token.contains(['.', 'e', 'E']))
        .all(|token| token.parse::<i64>().is_ok_and(|value| value.abs() <= 9_007_199_254_740_991))
}

/// A value at a depth.
struct Value<'p> {
    profile: &'p Profile,
    depth: usize,
}

impl Value<'_> {
    fn inner(&self) -> Value<'_> {
        Value { profile: self.profile, depth: self.depth + 1 }
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        if self.depth > usize::from(self.profile.max_depth) {
            return Err(D::Error::custom("depth"));
        }
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("strict JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        if value.is_finite() { Ok(()) } else { Err(E::custom("not finite")) }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if text.contains('\0') || text.chars().count() > self.profile.max_string {
            return Err(E::custom("string"));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let mut count = 0;
        while elements.next_element_seed(self.inner())?.is_some() {
            count += 1;
            if count > self.profile.max_entries {
                return Err(A::Error::custom("entries"));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if name.contains('\0')
                || name.chars().count() > self.profile.max_name
                || name.starts_with("$serde_json::private::")
                || !names.insert(name)
                || names.len() > self.profile.max_entries
            {
                return Err(A::Error::custom("name"));
            }
            members.next_value_seed(self.inner())?;
        }
        Ok(())
    }
}
