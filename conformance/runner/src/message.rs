//! The two frames of a protocol 1 request: right ones, and ones that are wrong in one chosen way.

use std::fmt::Write as _;

use serde_json::Value;

/// The host's first frame in protocol 1, as the reference text writes it.
pub const HELLO: &str = r#"{"version":1,"type":"hello","host_api":1}"#;

/// The module's first frame in protocol 1.
pub const MODULE_HELLO: &str = r#"{"version":1,"type":"hello","protocol":1}"#;

/// One frame: four bytes of length, then the payload.
///
/// # Panics
///
/// If the payload is longer than a frame can declare.
#[must_use]
pub fn frame(payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    frame_declaring(u32::try_from(payload.len()).expect("a payload of a test is below 4 GiB"), payload)
}

/// A frame whose header declares `length`, whatever follows it.
#[must_use]
pub fn frame_declaring(length: u32, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend_from_slice(payload.as_ref());
    bytes
}

/// Hello and this payload as the second frame.
#[must_use]
pub fn after_hello(second: impl AsRef<[u8]>) -> Vec<u8> {
    [frame(HELLO), frame(second)].concat()
}

/// An invoke message. Every field is JSON text, so a field can hold what no honest host would send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoke {
    /// The members in order: name (plain, without quotes) and value (JSON text).
    members: Vec<(String, String)>,
}

impl Invoke {
    /// A right invoke: version 1, the request id `request-id`, these targets and these parameters.
    #[must_use]
    pub fn new<S: AsRef<str>>(action: &str, targets: &[S], parameters: &Value) -> Self {
        let targets = targets.iter().map(|target| Value::from(target.as_ref())).collect::<Value>();
        let members = [
            ("version", "1".to_owned()),
            ("type", r#""invoke""#.to_owned()),
            ("id", r#""request-id""#.to_owned()),
            ("action", Value::from(action).to_string()),
            ("targets", targets.to_string()),
            ("parameters", parameters.to_string()),
        ];
        Self { members: members.map(|(name, value)| (name.to_owned(), value)).to_vec() }
    }

    /// The same with this member set to this JSON text; a new name is added at the end.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        match self.members.iter_mut().find(|(known, _)| known == name) {
            Some(member) => member.1 = value,
            None => self.members.push((name.to_owned(), value)),
        }
        self
    }

    /// The same without this member.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.members.retain(|(known, _)| known != name);
        self
    }

    /// The message as JSON text.
    #[must_use]
    pub fn json(&self) -> String {
        let mut text = String::from("{");
        for (index, (name, value)) in self.members.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(text, "{comma}{}:{value}", Value::from(name.as_str()));
        }
        text.push('}');
        text
    }

    /// Both frames of the request: hello and this.
    #[must_use]
    pub fn exchange(&self) -> Vec<u8> {
        after_hello(self.json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // P1-HOST-03
    #[test]
    fn the_right_invoke_is_the_one_of_the_reference_text() {
        let invoke = Invoke::new("echo", &["target-a", "target-b"], &json!({"message": "Hello"}));
        assert_eq!(
            invoke.json(),
            r#"{"version":1,"type":"invoke","id":"request-id","action":"echo","targets":["target-a","target-b"],"parameters":{"message":"Hello"}}"#
        );
    }

    // P1-FRAME-01, P1-FRAME-04
    #[test]
    fn a_frame_declares_its_length_in_bytes() {
        assert_eq!(frame("{\"é\":1}"), b"\x00\x00\x00\x08{\"\xc3\xa9\":1}");
        assert_eq!(frame_declaring(1_048_577, "{"), b"\x00\x10\x00\x01{");
    }

    #[test]
    fn members_can_be_replaced_added_and_left_out() {
        let invoke =
            Invoke::new("a", &["t"], &json!({})).with("version", "true").with("x", "1e0").without("targets");
        assert_eq!(
            invoke.json(),
            r#"{"version":true,"type":"invoke","id":"request-id","action":"a","parameters":{},"x":1e0}"#
        );
    }
}
