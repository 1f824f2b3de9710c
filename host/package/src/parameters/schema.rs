//! The schema of an action's parameters, as the manifest declares it.

use modberth_protocol::Code;
use modberth_protocol::json::Raw;
use modberth_protocol::limits::JSON_INTEGER;

use crate::fields::{self, Object, shown_number};
use crate::limits::{
    CHOICES, ITEM_LENGTH_DEFAULT, LIST_ITEMS, LIST_ITEMS_DEFAULT, PARAMETER_LENGTH, PARAMETERS,
    STRING_LENGTH_DEFAULT,
};
use crate::problem::{At, Sink};

/// The type of a parameter with its bounds (PM-PARAM-01, PM-PARAM-02).
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A text, which may be empty.
    String {
        /// Most code points, 1 to 8,192; 8,192 unless declared.
        max_length: u64,
        /// The only texts allowed, if declared; never empty.
        choices: Option<Vec<String>>,
    },
    /// A list of unique, nonempty texts, which may be empty.
    StringList {
        /// Most items, 1 to 128; 64 unless declared.
        max_items: u64,
        /// Most code points of an item, 1 to 8,192; 128 unless declared.
        max_length: u64,
        /// The only items allowed, if declared; never empty.
        choices: Option<Vec<String>>,
    },
    /// A JSON integer: 1.0 and true are none.
    Integer {
        /// Smallest value; may have a fraction.
        min: Option<f64>,
        /// Largest value; may have a fraction.
        max: Option<f64>,
    },
    /// An integer or a finite number with a fraction or exponent.
    Number {
        /// Smallest value.
        min: Option<f64>,
        /// Largest value.
        max: Option<f64>,
    },
    /// true or false.
    Boolean,
}

impl Kind {
    /// The word that stands as `type` in the manifest.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::String { .. } => "string",
            Self::StringList { .. } => "string-list",
            Self::Integer { .. } => "integer",
            Self::Number { .. } => "number",
            Self::Boolean => "boolean",
        }
    }

    /// How a value of this type is given, for people.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::String { .. } => "Give a string, such as \"Hello\".",
            Self::StringList { .. } => {
                "Give a list of strings, such as [\"a\",\"b\"]; with -p one item for each is enough."
            }
            Self::Integer { .. } => "Give a whole number without fraction and exponent, such as 5.",
            Self::Number { .. } => "Give a number as JSON writes it, such as 5 or 0.5.",
            Self::Boolean => "Give true or false.",
        }
    }

    /// A value of this type on a command line.
    pub(super) fn sample(&self) -> &'static str {
        match self {
            Self::String { .. } => "TEXT",
            Self::StringList { .. } => "ITEM",
            Self::Integer { .. } => "5",
            Self::Number { .. } => "0.5",
            Self::Boolean => "true",
        }
    }

    /// The bounds for people, such as `at most 20 code points; one of a, b`; empty if there is none.
    #[must_use]
    pub fn bounds(&self) -> String {
        let mut parts = Vec::new();
        match self {
            Self::String { max_length, .. } => parts.push(format!("at most {max_length} code points")),
            Self::StringList { max_items, max_length, .. } => {
                parts.push(format!("at most {max_items} items of at most {max_length} code points"));
            }
            Self::Integer { min, max } | Self::Number { min, max } => match (min, max) {
                (Some(min), Some(max)) => {
                    parts.push(format!("{} to {}", shown_number(*min), shown_number(*max)));
                }
                (Some(min), None) => parts.push(format!("at least {}", shown_number(*min))),
                (None, Some(max)) => parts.push(format!("at most {}", shown_number(*max))),
                (None, None) => {}
            },
            Self::Boolean => {}
        }
        if let Self::String { choices: Some(choices), .. } | Self::StringList { choices: Some(choices), .. } =
            self
        {
            parts.push(format!("one of {}", choices.join(", ")));
        }
        parts.join("; ")
    }
}

/// One declared parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its identifier, unique in the action.
    pub name: String,
    /// True if a request without it is refused. Missing optional parameters stay missing: there are no defaults.
    pub required: bool,
    /// Its type and bounds.
    pub kind: Kind,
}

/// The declared parameters of an action, at most 32, in the order of the manifest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    parameters: Vec<Parameter>,
}

impl Schema {
    /// The parameters in the order of the manifest.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The parameter of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    pub(crate) fn read(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<Self> {
        let object = fields::object(raw, at, sink)?;
        if !fields::count(object.entries().len(), at, sink, 0, PARAMETERS) {
            return None;
        }
        let before = sink.len();
        let mut parameters = Vec::with_capacity(object.entries().len());
        for (name, raw) in object.entries() {
            let at = at.name(name);
            if !modberth_protocol::ident::is_identifier(name) {
                fields::not_identifier(name, &at, sink);
            }
            if let Some((required, kind)) = parameter(*raw, &at, sink) {
                parameters.push(Parameter { name: name.clone().into_owned(), required, kind });
            }
        }
        (sink.len() == before).then_some(Self { parameters })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Type {
    String,
    StringList,
    Integer,
    Number,
    Boolean,
}

const TYPES: [(&str, Type); 5] = [
    ("string", Type::String),
    ("string-list", Type::StringList),
    ("integer", Type::Integer),
    ("number", Type::Number),
    ("boolean", Type::Boolean),
];

/// Every bound with the types that have it.
const BOUNDS: [(&str, &[Type]); 5] = [
    ("max_length", &[Type::String, Type::StringList]),
    ("choices", &[Type::String, Type::StringList]),
    ("max_items", &[Type::StringList]),
    ("min", &[Type::Integer, Type::Number]),
    ("max", &[Type::Integer, Type::Number]),
];

fn parameter(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<(bool, Kind)> {
    let object = fields::object(raw, at, sink)?;
    object.expect(at, sink, &["type"], &["required", "max_length", "max_items", "min", "max", "choices"]);
    let required = match object.get("required") {
        None => false,
        Some(raw) => fields::boolean(raw, &at.name("required"), sink).unwrap_or(false),
    };
    let kind = kind(object.get("type")?, &at.name("type"), sink)?;
    for (name, types) in BOUNDS {
        if object.has(name) && !types.contains(&kind) {
            let having: Vec<_> =
                TYPES.iter().filter(|(_, kind)| types.contains(kind)).map(|(word, _)| *word).collect();
            sink.at(
                &at.name(name),
                Code::PackageSchemaField,
                format!("{name} belongs to {} alone.", having.join(" and ")),
            );
        }
    }
    let kind = match kind {
        Type::String => {
            let max_length = whole(&object, "max_length", at, sink, PARAMETER_LENGTH, STRING_LENGTH_DEFAULT)?;
            Kind::String { max_length, choices: choices(&object, at, sink, max_length)? }
        }
        Type::StringList => {
            let max_items = whole(&object, "max_items", at, sink, LIST_ITEMS, LIST_ITEMS_DEFAULT);
            let max_length = whole(&object, "max_length", at, sink, PARAMETER_LENGTH, ITEM_LENGTH_DEFAULT)?;
            let choices = choices(&object, at, sink, max_length)?;
            Kind::StringList { max_items: max_items?, max_length, choices }
        }
        Type::Integer => {
            let (min, max) = range(&object, at, sink, true)?;
            Kind::Integer { min, max }
        }
        Type::Number => {
            let (min, max) = range(&object, at, sink, false)?;
            Kind::Number { min, max }
        }
        Type::Boolean => Kind::Boolean,
    };
    Some((required, kind))
}

fn kind(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<Type> {
    let Some(word) = raw.as_str() else {
        sink.at(at, Code::PackageFieldType, format!("This is a string; found {}.", fields::describe(raw)));
        return None;
    };
    let found = TYPES.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
    if found.is_none() {
        sink.at(
            at,
            Code::PackageSchemaType,
            format!(
                "A parameter is a string, string-list, integer, number or boolean; found {}.",
                fields::shown(&word)
            ),
        );
    }
    found
}

/// A bound that counts something: 1 to `most`.
fn whole(
    object: &Object<'_>,
    name: &str,
    at: &At<'_>,
    sink: &mut Sink,
    most: u64,
    default: u64,
) -> Option<u64> {
    let Some(raw) = object.get(name) else { return Some(default) };
    let most = i64::try_from(most).ok()?;
    let value = fields::integer(raw, &at.name(name), sink, 1, most)?;
    u64::try_from(value).ok()
}

/// The outer `Option` is `None` after a complaint; the inner one if no choices are declared.
#[expect(clippy::option_option, reason = "absent and wrong are two things here")]
fn choices(
    object: &Object<'_>,
    at: &At<'_>,
    sink: &mut Sink,
    max_length: u64,
) -> Option<Option<Vec<String>>> {
    let Some(raw) = object.get("choices") else { return Some(None) };
    let at = at.name("choices");
    let list = fields::list(raw, &at, sink, 0, CHOICES)?;
    if list.is_empty() {
        sink.bound(
            &at,
            Code::PackageSchemaChoices,
            1_usize,
            0_usize,
            "An empty list of choices allows no value at all; leave choices out to allow every text.",
        );
        return None;
    }
    let before = sink.len();
    let mut found: Vec<String> = Vec::with_capacity(list.len());
    for (index, raw) in list.into_iter().enumerate() {
        let at = at.index(index);
        let most = usize::try_from(PARAMETER_LENGTH).ok()?;
        let Some(choice) = fields::text(raw, &at, sink, 1, most) else { continue };
        let length = choice.chars().count();
        if u64::try_from(length).is_ok_and(|length| length > max_length) {
            sink.bound(
                &at,
                Code::PackageSchemaChoices,
                max_length,
                length,
                format!("This choice has {length} code points, but max_length is {max_length}: nobody could choose it."),
            );
        } else if found.contains(&choice) {
            sink.at(
                &at,
                Code::PackageDuplicate,
                format!("The choice {} stands here twice.", fields::shown(&choice)),
            );
        } else {
            found.push(choice);
        }
    }
    (sink.len() == before).then_some(Some(found))
}

/// The ends of the exact integers of JSON, as the format has them.
#[expect(clippy::cast_precision_loss, reason = "2^53-1 is exact in a binary64 value")]
const EXACT: f64 = JSON_INTEGER as f64;

fn range(
    object: &Object<'_>,
    at: &At<'_>,
    sink: &mut Sink,
    integer: bool,
) -> Option<(Option<f64>, Option<f64>)> {
    let before = sink.len();
    let mut end = |name: &str| {
        let at = at.name(name);
        let value = fields::number(object.get(name)?, &at, sink)?;
        if integer && value.abs() > EXACT {
            sink.at(
                &at,
                Code::PackageSchemaRange,
                format!(
                    "An integer lies within plus or minus {JSON_INTEGER}; {name} is {}.",
                    shown_number(value)
                ),
            );
        }
        Some(value)
    };
    let (min, max) = (end("min"), end("max"));
    if let (Some(min), Some(max)) = (min, max) {
        if min > max {
            sink.at(
                &at.name("min"),
                Code::PackageSchemaRange,
                format!(
                    "min {} is greater than max {}: no value fits.",
                    shown_number(min),
                    shown_number(max)
                ),
            );
        } else if integer && min.ceil() > max.floor() {
            sink.at(
                &at.name("min"),
                Code::PackageSchemaRange,
                format!("No integer lies from {} to {}.", shown_number(min), shown_number(max)),
            );
        }
    }
    (sink.len() == before).then_some((min, max))
}
