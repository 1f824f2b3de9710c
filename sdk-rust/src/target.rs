//! A target, and the result a handler gives for it.

use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

use crate::encode::{Fault, to_json};

/// The code of an error that a module did not foresee (P1-SDK-07).
const INTERNAL: &str = "internal";

/// The message of such an error: neutral, because it goes to whoever asked for the action.
const INTERNAL_MESSAGE: &str = "The module failed on this target.";

/// One target of a request: an opaque id of 1 to 128 code points, and its place in the request (P1-HOST-14).
///
/// ```
/// use modberth_sdk::{Module, Target, testing::FakeHost};
/// use serde_json::{Value, json};
///
/// let module = Module::new()
///     .each("name", |target: &Target, _: &Value| Ok(json!([target.id(), target.index()])));
/// let reply = FakeHost::new(&module).invoke("name", &["b", "a"], &json!({}))?;
/// assert_eq!(reply["a"].data(), Some(json!(["a", 1])));
/// # Ok::<(), modberth_sdk::Violation>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    id: String,
    index: usize,
}

impl Target {
    pub(crate) fn new(id: &str, index: usize) -> Self {
        Self { id: id.to_owned(), index }
    }

    /// The id, exactly as the host sent it. It means nothing but itself: do not trim it, fold its case or normalise it.
    ///
    /// ```
    /// # use modberth_sdk::{Module, Target, testing::FakeHost};
    /// # use serde_json::{Value, json};
    /// # let module = Module::new().each("id", |target: &Target, _: &Value| Ok(
    /// target.id().len()
    /// # ));
    /// # let reply = FakeHost::new(&module).invoke("id", &[" é "], &json!({}))?;
    /// # assert_eq!(reply[" é "].data(), Some(json!(4)));
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its place among the targets of the request, counted from 0.
    ///
    /// ```
    /// # use modberth_sdk::{Module, Target, testing::FakeHost};
    /// # use serde_json::{Value, json};
    /// # let module = Module::new().each("index", |target: &Target, _: &Value| Ok(
    /// target.index()
    /// # ));
    /// # let reply = FakeHost::new(&module).invoke("index", &["x", "y"], &json!({}))?;
    /// # assert_eq!(reply["y"].data(), Some(json!(1)));
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The result of this target with data, for a handler of the whole batch.
    ///
    /// The value is written at once. A value that a host would refuse (NaN, a whole number beyond 2^53 - 1, a name that
    /// is no text, more than a frame holds) makes the whole answer a refusal that names this target (P1-SDK-05).
    /// `json!(f64::NAN)` is `null` before it gets here: use a type that derives `Serialize` where a number may be NaN.
    ///
    /// ```
    /// # use modberth_sdk::{Batch, Module, testing::FakeHost};
    /// # use serde_json::json;
    /// # let module = Module::new().batch("count", |batch: &Batch| Ok(batch.iter().map(|target| {
    /// target.data([target.index(), batch.len()])
    /// # }).collect()));
    /// # let reply = FakeHost::new(&module).invoke("count", &["x", "y"], &json!({}))?;
    /// # assert_eq!(reply["y"].data(), Some(json!([1, 2])));
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn data(&self, value: impl Serialize) -> TargetResult {
        self.result(Ok(value))
    }

    /// The result of this target with an error, for a handler of the whole batch: a code that is an identifier
    /// (`[a-z][a-z0-9_.-]{0,95}`) and a message of at most 1,024 code points (P1-HOST-11).
    ///
    /// ```
    /// # use modberth_sdk::{Batch, Module, testing::FakeHost};
    /// # use serde_json::json;
    /// # let module = Module::new().batch("find", |batch: &Batch| Ok(batch.iter().map(|target| {
    /// target.error("not_found", "No such system.")
    /// # }).collect()));
    /// # let reply = FakeHost::new(&module).invoke("find", &["x"], &json!({}))?;
    /// # assert_eq!(reply["x"].error(), Some(("not_found", "No such system.")));
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn error(&self, code: impl Into<String>, message: impl Into<String>) -> TargetResult {
        self.result(Err::<(), _>(TargetError::new(code, message)))
    }

    /// The result of this target from what a function returned, for a handler of the whole batch: as
    /// [`Target::data`] or as an error. The cause of an unexpected error goes to standard error, as in an each handler.
    ///
    /// ```
    /// # use modberth_sdk::{Batch, Module, Target, TargetError, testing::FakeHost};
    /// # use serde_json::json;
    /// fn half(target: &Target) -> Result<u32, TargetError> {
    ///     Ok(target.id().parse::<u32>()? / 2)
    /// }
    ///
    /// let module = Module::new()
    ///     .batch("half", |batch: &Batch| Ok(batch.iter().map(|target| target.result(half(target))).collect()));
    /// let reply = FakeHost::new(&module).invoke("half", &["8", "x"], &json!({}))?;
    /// assert_eq!(reply["8"].data(), Some(json!(4)));
    /// assert_eq!(reply["x"].error(), Some(("internal", "The module failed on this target.")));
    /// assert_eq!(reply.notes(), ["target \"x\": invalid digit found in string"]);
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn result(&self, result: Result<impl Serialize, TargetError>) -> TargetResult {
        let target = self.id.clone();
        TargetResult(match result {
            Ok(value) => Row::Data { target, data: to_json(&value) },
            Err(TargetError { code, message, cause }) => Row::Error { target, code, message, cause },
        })
    }
}

/// The result of one target: data or an error. [`Target::data`] and [`Target::error`] build it.
///
/// A result can also be a JSON value in the form of the protocol, `{"target":…,"data":…}` or
/// `{"target":…,"error":{"code":…,"message":…}}`; that is what [`serve`](crate::serve) takes.
///
/// ```
/// use modberth_sdk::TargetResult;
/// use serde_json::json;
///
/// let result = TargetResult::from(json!({"target": "a", "data": {"ready": true}}));
/// ```
#[derive(Debug, Clone)]
pub struct TargetResult(pub(crate) Row);

/// The forms of a result.
#[derive(Debug, Clone)]
pub(crate) enum Row {
    /// Written from a value, or why it could not be.
    Data { target: String, data: Result<String, Fault> },
    /// A code and a message, as the handler gave them, and the cause of an unexpected error.
    Error { target: String, code: String, message: String, cause: Option<String> },
    /// In the form of the protocol, not yet looked at.
    Value(Value),
}

impl From<Value> for TargetResult {
    fn from(row: Value) -> Self {
        Self(Row::Value(row))
    }
}

/// Why a target gets an error instead of data.
///
/// [`TargetError::new`] is an error you foresaw: its code and message are the target's result, and the action is a
/// success. Any other error, through `?` or [`TargetError::unexpected`], gives the target the error `internal` with a
/// neutral message, while what went wrong is written to standard error (P1-SDK-07).
///
/// ```
/// use modberth_sdk::{Module, Target, TargetError, testing::FakeHost};
/// use serde_json::{Value, json};
///
/// let module = Module::new().each("half", |target: &Target, _: &Value| {
///     let number: u32 = target.id().parse()?;
///     if number % 2 == 1 {
///         return Err(TargetError::new("odd", "This number has no half."));
///     }
///     Ok(number / 2)
/// });
/// let reply = FakeHost::new(&module).invoke("half", &["8", "7", "x"], &json!({}))?;
/// assert_eq!(reply["8"].data(), Some(json!(4)));
/// assert_eq!(reply["7"].error(), Some(("odd", "This number has no half.")));
/// assert_eq!(reply["x"].error(), Some(("internal", "The module failed on this target.")));
/// assert!(reply.notes()[0].contains("invalid digit"));
/// # Ok::<(), modberth_sdk::Violation>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetError {
    code: String,
    message: String,
    /// What standard error shall say; only for an error that was not foreseen.
    cause: Option<String>,
}

impl TargetError {
    /// An error with a code that is an identifier (`[a-z][a-z0-9_.-]{0,95}`) and a message of at most 1,024 code points
    /// (P1-HOST-11). Anything else makes the whole answer a refusal that names the target.
    ///
    /// ```
    /// let error = modberth_sdk::TargetError::new("not_found", "No such system.");
    /// assert_eq!((error.code(), error.message()), ("not_found", "No such system."));
    /// ```
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), cause: None }
    }

    /// An error that was not foreseen: the code `internal`, a neutral message, and the cause on standard error.
    ///
    /// ```
    /// let error = modberth_sdk::TargetError::unexpected("the table has no row 3");
    /// assert_eq!((error.code(), error.message()), ("internal", "The module failed on this target."));
    /// assert_eq!(error.cause(), Some("the table has no row 3"));
    /// ```
    pub fn unexpected(cause: impl Display) -> Self {
        Self {
            code: INTERNAL.to_owned(),
            message: INTERNAL_MESSAGE.to_owned(),
            cause: Some(cause.to_string()),
        }
    }

    /// The code that the target gets.
    ///
    /// ```
    /// assert_eq!(modberth_sdk::TargetError::new("gone", "").code(), "gone");
    /// ```
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The message that the target gets.
    ///
    /// ```
    /// assert_eq!(modberth_sdk::TargetError::new("gone", "It left.").message(), "It left.");
    /// ```
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What is written to standard error; only an unexpected error has it.
    ///
    /// ```
    /// assert_eq!(modberth_sdk::TargetError::new("gone", "It left.").cause(), None);
    /// ```
    #[must_use]
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }
}

/// Any error of a library, so that `?` works in a handler. It becomes [`TargetError::unexpected`], its sources included.
///
/// ```
/// use modberth_sdk::TargetError;
///
/// fn read(id: &str) -> Result<u32, TargetError> {
///     Ok(id.parse()?)
/// }
/// assert_eq!(read("x").unwrap_err().code(), "internal");
/// ```
impl<E: std::error::Error> From<E> for TargetError {
    fn from(error: E) -> Self {
        let mut cause = error.to_string();
        let mut source = error.source();
        // A chain that is longer than this, or a circle, tells nothing more.
        for _ in 0..8 {
            let Some(inner) = source else { break };
            cause.push_str(": ");
            cause.push_str(&inner.to_string());
            source = inner.source();
        }
        Self::unexpected(cause)
    }
}
