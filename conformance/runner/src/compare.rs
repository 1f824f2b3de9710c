//! JSON documents compared by meaning: the order of members does not matter, numbers are equal when their binary64
//! values are, and text is equal only code point for code point.

use serde_json::Value;

/// Where two documents differ first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The place, like `results[3].data.message`; empty for the whole document.
    pub path: String,
    /// What was wanted there, as JSON; `nothing` where nothing was.
    pub wanted: String,
    /// What was found there.
    pub found: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = if self.path.is_empty() { "the document" } else { &self.path };
        write!(f, "{path}: wanted {}, found {}", shorten(&self.wanted), shorten(&self.found))
    }
}

/// The most code points of a value that a difference shows.
const SHOWN: usize = 200;

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// The first difference between two documents, or none.
#[must_use]
pub fn difference(wanted: &Value, found: &Value) -> Option<Difference> {
    let mut path = String::new();
    walk(wanted, found, &mut path)
}

/// Objects and arrays nest at most as deep as the parser of both documents allowed, so the recursion is bounded.
fn walk(wanted: &Value, found: &Value, path: &mut String) -> Option<Difference> {
    match (wanted, found) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                let before = path.len();
                push_name(path, name);
                match right.get(name) {
                    Some(other) => {
                        if let Some(difference) = walk(value, other, path) {
                            return Some(difference);
                        }
                    }
                    None => return Some(at(path, value.to_string(), "nothing".to_owned())),
                }
                path.truncate(before);
            }
            let (name, value) = right.iter().find(|(name, _)| !left.contains_key(*name))?;
            push_name(path, name);
            Some(at(path, "nothing".to_owned(), value.to_string()))
        }
        (Value::Array(left), Value::Array(right)) => {
            for (index, (value, other)) in left.iter().zip(right).enumerate() {
                let before = path.len();
                path.push_str(&format!("[{index}]"));
                if let Some(difference) = walk(value, other, path) {
                    return Some(difference);
                }
                path.truncate(before);
            }
            (left.len() != right.len())
                .then(|| at(path, format!("{} entries", left.len()), format!("{} entries", right.len())))
        }
        (Value::Number(left), Value::Number(right)) if same_number(left, right) => None,
        (left, right) if left == right => None,
        (left, right) => Some(at(path, left.to_string(), right.to_string())),
    }
}

/// Whole numbers of the strict profile are exact in binary64, so its comparison loses nothing.
fn same_number(left: &serde_json::Number, right: &serde_json::Number) -> bool {
    left == right || matches!((left.as_f64(), right.as_f64()), (Some(left), Some(right)) if left == right)
}

fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

fn at(path: &str, wanted: String, found: String) -> Difference {
    Difference { path: path.to_owned(), wanted, found }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(wanted: &str, found: &str) -> Option<String> {
        let parse = |text| serde_json::from_str::<Value>(text).expect("a document of a test");
        difference(&parse(wanted), &parse(found)).map(|difference| difference.to_string())
    }

    #[test]
    fn numbers_compare_as_numbers() {
        assert_eq!(compare("[1, -0, 1e20, 0.1]", "[1.0, 0, 100000000000000000000.0, 1e-1]"), None);
        assert_eq!(
            compare("{\"a\":[0,9007199254740991]}", "{\"a\":[0,9007199254740990]}").as_deref(),
            Some("a[1]: wanted 9007199254740991, found 9007199254740990")
        );
        assert!(compare("[1]", "[true]").is_some());
    }

    #[test]
    fn text_compares_code_point_for_code_point() {
        assert!(compare(r#""\u00e9""#, r#""e\u0301""#).is_some());
        assert_eq!(compare(r#""\u00e9""#, "\"é\""), None);
    }

    #[test]
    fn a_missing_and_a_surplus_member_are_named() {
        assert_eq!(
            compare(r#"{"a":{"b":1}}"#, r#"{"a":{}}"#).as_deref(),
            Some("a.b: wanted 1, found nothing")
        );
        assert_eq!(
            compare(r#"{"a":{}}"#, r#"{"a":{"c":2}}"#).as_deref(),
            Some("a.c: wanted nothing, found 2")
        );
        assert_eq!(
            compare("[1]", "[1,2]").as_deref(),
            Some("the document: wanted 1 entries, found 2 entries")
        );
        assert_eq!(compare(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#), None);
    }
}
