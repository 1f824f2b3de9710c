//! What a handler returns, written as JSON without a silent change.
//!
//! serde_json alone would write NaN as `null` and any integer whatever its size. This serializer refuses both, and
//! names the place. What it writes is checked again as bytes with the host's whole profile, so the bounds that the
//! profile has on depth, entries, names and strings are not repeated here.

use std::fmt::{self, Display, Write as _};

use modberth_protocol::{Code, limits};
use serde::{Serialize, ser};

/// Why a value cannot be sent, and where in the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: Code,
    /// The place inside the value, like `.load[3]`; empty for the value itself.
    pub(crate) path: String,
    pub(crate) message: String,
}

impl Fault {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, path: String::new(), message: message.into() }
    }

    fn value(message: impl Into<String>) -> Self {
        Self::new(Code::OutputValue, message)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.code, self.path, self.message)
    }
}

impl std::error::Error for Fault {}

impl ser::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::value(format!("The value cannot be serialised: {message}"))
    }
}

/// The value as compact JSON.
pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String, Fault> {
    let mut encoder = Encoder { out: String::new(), path: Vec::new() };
    match value.serialize(&mut encoder) {
        Ok(()) => Ok(encoder.out),
        Err(fault) => Err(Fault { path: encoder.place(), ..fault }),
    }
}

/// How deep containers may stand in each other before the encoder gives up: deeper than any legal value, so the exact
/// bound stays with the check of the bytes, and shallow enough that no value can exhaust the stack.
const STEPS: usize = 2 * limits::JSON_DEPTH as usize;

#[derive(Debug)]
enum Step {
    Index(usize),
    Field(&'static str),
    Name(String),
}

struct Encoder {
    out: String,
    path: Vec<Step>,
}

impl Encoder {
    fn place(&self) -> String {
        self.path.iter().fold(String::new(), |mut text, step| {
            // Writing to a string cannot fail.
            let _ = match step {
                Step::Index(index) => write!(text, "[{index}]"),
                Step::Field(name) => write!(text, ".{name}"),
                Step::Name(name) if is_word(name) => write!(text, ".{name}"),
                Step::Name(name) => write!(text, "[{}]", modberth_protocol::json::quote(name)),
            };
            text
        })
    }

    /// Appends, within the size that one frame can carry at all.
    fn put(&mut self, text: &str) -> Result<(), Fault> {
        if self.out.len() + text.len() > limits::FRAME_PAYLOAD {
            return Err(Fault::new(
                Code::FrameTooLarge,
                format!("This value alone passes the {} bytes of a frame.", limits::FRAME_PAYLOAD),
            ));
        }
        self.out.push_str(text);
        Ok(())
    }

    fn number<N: Serialize>(&mut self, number: N) -> Result<(), Fault> {
        let text = serde_json::to_string(&number).map_err(ser::Error::custom)?;
        self.put(&text)
    }

    fn integer<N: TryInto<i64> + Display + Copy>(&mut self, number: N) -> Result<(), Fault> {
        match number.try_into() {
            Ok(exact) if exact.unsigned_abs() <= limits::JSON_INTEGER => self.number(exact),
            _ => Err(Fault::new(
                Code::JsonIntegerRange,
                format!(
                    "The whole number {number} lies beyond plus or minus {}; send it as text.",
                    limits::JSON_INTEGER
                ),
            )),
        }
    }

    fn float<N: Serialize + Display>(&mut self, number: N, finite: bool) -> Result<(), Fault> {
        if finite {
            return self.number(number);
        }
        Err(Fault::new(
            Code::JsonNonfinite,
            format!("The number is {number}; JSON carries finite numbers only."),
        ))
    }

    fn open(&mut self, bracket: &str) -> Result<(), Fault> {
        if self.path.len() >= STEPS {
            return Err(Fault::new(Code::JsonDepth, format!("The value nests {STEPS} levels or deeper.")));
        }
        self.put(bracket)
    }

    /// `"VARIANT":` of an enum variant that has content.
    fn variant(&mut self, name: &'static str) -> Result<(), Fault> {
        self.open("{")?;
        ser::Serializer::serialize_str(&mut *self, name)?;
        self.put(":")?;
        self.path.push(Step::Field(name));
        Ok(())
    }
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

impl<'a> ser::Serializer for &'a mut Encoder {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    fn serialize_bool(self, value: bool) -> Result<(), Fault> {
        self.put(if value { "true" } else { "false" })
    }

    fn serialize_i8(self, value: i8) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Fault> {
        self.integer(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Fault> {
        self.float(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Fault> {
        self.float(value, value.is_finite())
    }

    fn serialize_char(self, value: char) -> Result<(), Fault> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Fault> {
        // Longer than a frame whatever its escapes: not worth a copy.
        if value.len() > limits::FRAME_PAYLOAD {
            return self.put(value);
        }
        self.put(&modberth_protocol::json::quote(value))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Fault> {
        Err(Fault::value("JSON carries no raw bytes; send text or a list of numbers."))
    }

    fn serialize_none(self) -> Result<(), Fault> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        self.put("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Fault> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Fault> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.variant(variant)?;
        value.serialize(&mut *self)?;
        self.path.pop();
        self.put("}")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a>, Fault> {
        Compound::begin(self, "[", "]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'a>, Fault> {
        Compound::begin(self, "[", "]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Fault> {
        Compound::begin(self, "[", "]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Fault> {
        self.variant(variant)?;
        Compound::begin(self, "[", "]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'a>, Fault> {
        Compound::begin(self, "{", "}")
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Fault> {
        Compound::begin(self, "{", "}")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Fault> {
        self.variant(variant)?;
        Compound::begin(self, "{", "}}")
    }
}

/// An array or object that is being written.
struct Compound<'a> {
    encoder: &'a mut Encoder,
    entries: usize,
    /// What closes it: one bracket, or two for an enum variant, which stands in an object of its own.
    close: &'static str,
}

impl<'a> Compound<'a> {
    fn begin(encoder: &'a mut Encoder, open: &str, close: &'static str) -> Result<Self, Fault> {
        encoder.open(open)?;
        Ok(Self { encoder, entries: 0, close })
    }

    fn comma(&mut self) -> Result<(), Fault> {
        if self.entries > 0 {
            self.encoder.put(",")?;
        }
        self.entries += 1;
        Ok(())
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let index = self.entries;
        self.comma()?;
        self.at(Step::Index(index), value)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
        self.comma()?;
        name.serialize(&mut *self.encoder)?;
        self.encoder.put(":")?;
        self.at(Step::Field(name), value)
    }

    fn at<T: Serialize + ?Sized>(&mut self, step: Step, value: &T) -> Result<(), Fault> {
        self.encoder.path.push(step);
        value.serialize(&mut *self.encoder)?;
        self.encoder.path.pop();
        Ok(())
    }

    fn finish(self) -> Result<(), Fault> {
        if self.close.len() > 1 {
            self.encoder.path.pop();
        }
        self.encoder.put(self.close)
    }
}

impl ser::SerializeSeq for Compound<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.element(value)
    }

    fn end(self) -> Result<(), Fault> {
        self.finish()
    }
}

impl ser::SerializeTuple for Compound<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.element(value)
    }

    fn end(self) -> Result<(), Fault> {
        self.finish()
    }
}

impl ser::SerializeTupleStruct for Compound<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.element(value)
    }

    fn end(self) -> Result<(), Fault> {
        self.finish()
    }
}

impl ser::SerializeTupleVariant for Compound<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.element(value)
    }

    fn end(self) -> Result<(), Fault> {
        self.finish()
    }
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        let name = key.serialize(Name)?;
        self.comma()?;
        name.serialize(&mut *self.encoder)?;
        self.encoder.put(":")?;
        self.encoder.path.push(Step::Name(name));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        value.serialize(&mut *self.encoder)?;
        self.encoder.path.pop();
        Ok(())
    }

    fn end(self) -> Result<(), Fault> {
        self.finish()
    }
}

impl ser::SerializeStruct for Compound<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), Fault> {
        self.finish()
    }
}

impl ser::SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Fault> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), Fault> {
        self.finish()
    }
}

/// A key of a map. Only text is a name: `1` and `"1"` would otherwise become one name.
struct Name;

/// The refusals of [`Name`], one line per kind of key.
macro_rules! no_name {
    ($($method:ident($kind:ty);)*) => {
        $(fn $method(self, _: $kind) -> Result<String, Fault> {
            Err(not_text())
        })*
    };
}

fn not_text() -> Fault {
    Fault::value("A name in an object is text; this map has a key of another type.")
}

impl ser::Serializer for Name {
    type Ok = String;
    type Error = Fault;
    type SerializeSeq = ser::Impossible<String, Fault>;
    type SerializeTuple = ser::Impossible<String, Fault>;
    type SerializeTupleStruct = ser::Impossible<String, Fault>;
    type SerializeTupleVariant = ser::Impossible<String, Fault>;
    type SerializeMap = ser::Impossible<String, Fault>;
    type SerializeStruct = ser::Impossible<String, Fault>;
    type SerializeStructVariant = ser::Impossible<String, Fault>;

    no_name! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_bytes(&[u8]);
        serialize_unit_struct(&'static str);
    }

    fn serialize_char(self, value: char) -> Result<String, Fault> {
        Ok(value.to_string())
    }

    fn serialize_str(self, value: &str) -> Result<String, Fault> {
        Ok(value.to_owned())
    }

    fn serialize_none(self) -> Result<String, Fault> {
        Err(not_text())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<String, Fault> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<String, Fault> {
        Err(not_text())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<String, Fault> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, Fault> {
        Err(not_text())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Fault> {
        Err(not_text())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Fault> {
        Err(not_text())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Fault> {
        Err(not_text())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Fault> {
        Err(not_text())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Fault> {
        Err(not_text())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Fault> {
        Err(not_text())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Fault> {
        Err(not_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn text<T: Serialize>(value: T) -> String {
        to_json(&value).expect("a legal value")
    }

    fn fault<T: Serialize>(value: T) -> (Code, String) {
        let fault = to_json(&value).expect_err("no legal value");
        (fault.code, fault.path)
    }

    #[derive(Serialize)]
    enum Shape {
        Point,
        Circle(f64),
        Box(i32, i32),
        Named { width: i32 },
    }

    #[test]
    fn it_writes_what_serde_json_writes() {
        let value = json!({"a": [1, -0.0, 0.1, true, null, "q\"\\\u{1}\u{2028}é"], "b": {}, "c": [], "d": {"e": {"f": [[]]}}});
        assert_eq!(text(&value), value.to_string());
        let shapes = [Shape::Point, Shape::Circle(0.5), Shape::Box(1, -2), Shape::Named { width: 3 }];
        assert_eq!(text(&shapes), serde_json::to_string(&shapes).expect("legal"));
        assert_eq!(text(((), Some('x'), None::<u8>, 7u8)), r#"[null,"x",null,7]"#);
    }

    // P1-HOST-20: both end values pass.
    #[test]
    fn whole_numbers_keep_to_the_exact_range() {
        assert_eq!(text(9_007_199_254_740_991_i64), "9007199254740991");
        assert_eq!(text(-9_007_199_254_740_991_i128), "-9007199254740991");
        assert_eq!(fault(9_007_199_254_740_992_u64).0, Code::JsonIntegerRange);
        assert_eq!(fault(i64::MIN).0, Code::JsonIntegerRange);
        assert_eq!(fault(u128::MAX).0, Code::JsonIntegerRange);
        assert_eq!(fault(json!({"n": u64::MAX})), (Code::JsonIntegerRange, ".n".into()));
    }

    // P1-HOST-19, decisions on numbers: a float is always written with a fraction or an exponent.
    #[test]
    fn floats_are_finite_and_look_like_floats() {
        for number in
            [1.0, 1e15, 9_007_199_254_740_992.0, 1e20, 1e300, f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0]
        {
            let written = text(number);
            assert!(written.contains(['.', 'e']), "{written}");
            assert_eq!(written.parse::<f64>().expect("a number").to_bits(), number.to_bits());
        }
        assert_eq!(text(0.1_f32), "0.1");
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(fault(bad).0, Code::JsonNonfinite);
        }
        assert_eq!(fault(f32::NAN).0, Code::JsonNonfinite);
    }

    #[test]
    fn the_place_of_a_fault_is_named() {
        #[derive(Serialize)]
        struct Load {
            cores: Vec<BTreeMap<String, f64>>,
        }
        let cores = vec![BTreeMap::new(), BTreeMap::from([("a b".to_owned(), f64::NAN)])];
        assert_eq!(fault(Load { cores }), (Code::JsonNonfinite, r#".cores[1]["a b"]"#.into()));
        assert_eq!(fault([Shape::Circle(f64::INFINITY)]), (Code::JsonNonfinite, "[0].Circle".into()));
        assert_eq!(fault((1, f64::NAN)), (Code::JsonNonfinite, "[1]".into()));
    }

    #[test]
    fn names_are_text() {
        assert_eq!(text(BTreeMap::from([('k', 1)])), r#"{"k":1}"#);
        assert_eq!(fault(BTreeMap::from([(1, 1)])).0, Code::OutputValue);
        assert_eq!(fault(BTreeMap::from([(true, 1)])).0, Code::OutputValue);
        assert_eq!(fault(BTreeMap::from([((1, 2), 1)])).0, Code::OutputValue);
    }

    #[test]
    fn what_json_cannot_carry_is_refused() {
        struct Bytes;
        impl Serialize for Bytes {
            fn serialize<S: ser::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_bytes(b"x")
            }
        }
        struct Failing;
        impl Serialize for Failing {
            fn serialize<S: ser::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(ser::Error::custom("the lock is poisoned"))
            }
        }
        assert_eq!(fault(Bytes).0, Code::OutputValue);
        let failing = to_json(&[Failing]).expect_err("it fails");
        assert_eq!((failing.code, failing.path.as_str()), (Code::OutputValue, "[0]"));
        assert!(failing.message.contains("the lock is poisoned"));
    }

    #[test]
    fn size_and_nesting_end_early() {
        assert_eq!(fault(vec!["x".repeat(60_000); 64]), (Code::FrameTooLarge, "[17]".into()));
        assert_eq!(fault("x".repeat(2_000_000)).0, Code::FrameTooLarge);
        let mut deep = json!(0);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert_eq!(fault(deep).0, Code::JsonDepth);
    }
}
