//! An in-process host for the tests of a module.
//!
//! [`FakeHost`] sends a module the very bytes a host sends, and holds its answer to the very rules of a host: both come
//! from the crate that hosts are built on. What it leaves out is the process: no standard stream is touched, and
//! nothing is confined.
//!
//! ```
//! use modberth_sdk::{Module, Target, testing::FakeHost};
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize)]
//! struct Echo {
//!     message: String,
//! }
//!
//! let module = Module::new()
//!     .each("echo", |target: &Target, parameters: &Echo| {
//!         Ok(json!({ "message": parameters.message, "index": target.index() }))
//!     });
//!
//! let reply = FakeHost::new(&module).invoke("echo", &["a", "b"], &json!({"message": "Hello"}))?;
//! assert_eq!(reply["b"].data(), Some(json!({"message": "Hello", "index": 1})));
//! # Ok::<(), modberth_sdk::Violation>(())
//! ```

use std::ops::Index;

use modberth_protocol::Violation;
use modberth_protocol::json::{Profile, RawJson};
use modberth_protocol::process::{Exit, HostSession, ModuleSession, Outcome, Request, Results};
use serde::Serialize;
use serde_json::Value;

use crate::encode::to_json;
use crate::notes::Notes;
use crate::target::TargetResult;
use crate::{Module, answer, run};

/// The request id that a fake host uses: 32 lower-case hexadecimal digits, as a host's.
const REQUEST_ID: &str = "0123456789abcdef0123456789abcdef";

type Answer<'a> = dyn Fn(&Request, &mut Notes) -> Result<Vec<TargetResult>, Violation> + 'a;

/// A host for tests: one call is one action, with the rules of a host on both sides.
pub struct FakeHost<'a> {
    answer: Box<Answer<'a>>,
}

impl<'a> FakeHost<'a> {
    /// A host for this module. It can be asked any number of times.
    ///
    /// ```
    /// use modberth_sdk::{Module, testing::FakeHost};
    ///
    /// let module = Module::new();
    /// let host = FakeHost::new(&module);
    /// ```
    #[must_use]
    pub fn new(module: &'a Module) -> Self {
        Self { answer: Box::new(|request, notes| module.call(request, notes)) }
    }

    /// A host for a callback in the form of [`serve`](crate::serve).
    ///
    /// ```
    /// use modberth_sdk::testing::FakeHost;
    /// use serde_json::{Value, json};
    ///
    /// let host = FakeHost::serving(|request: &Value| vec![json!({"target": "a", "data": request["action"]})]);
    /// assert_eq!(host.invoke("act", &["a"], &json!({}))?["a"].data(), Some(json!("act")));
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn serving(handler: impl Fn(&Value) -> Vec<Value> + 'a) -> Self {
        Self { answer: Box::new(move |request, _| run::raw(request, &handler)) }
    }

    /// Sends one request and returns what every target got.
    ///
    /// The action is not looked up in a manifest and the parameters are not checked against one; everything else is.
    ///
    /// # Errors
    ///
    /// What a host, or the SDK in the process of the module, would refuse: the request, or what the handler returned.
    /// The violation's code is the one of the real refusal.
    ///
    /// ```
    /// use modberth_sdk::{Module, Target, testing::FakeHost};
    /// use serde_json::{Value, json};
    ///
    /// let module = Module::new().each("load", |_: &Target, _: &Value| Ok(f64::NAN));
    /// let refused = FakeHost::new(&module).invoke("load", &["a"], &json!({})).unwrap_err();
    /// assert_eq!(refused.code.as_str(), "json.nonfinite");
    /// assert_eq!(refused.place.target.as_deref(), Some("a"));
    /// ```
    pub fn invoke(
        &self,
        action: &str,
        targets: &[&str],
        parameters: &(impl Serialize + ?Sized),
    ) -> Result<Reply, Violation> {
        let parameters = to_json(parameters).map_err(|fault| {
            Violation::new(fault.code, &fault.message).path(format!("parameters{}", fault.path))
        })?;
        // Not yet an object for certain: that is for the request to say, in its own order of rules.
        let parameters = RawJson::new(parameters, &Profile::PROCESS.below(1))?;
        let targets = targets.iter().map(|target| (*target).to_owned()).collect();
        let request = Request::new(REQUEST_ID, action, targets, parameters)?;

        let mut host = HostSession::new(request);
        let mut module = ModuleSession::new();
        module.input(host.input())?;
        let request = module.end()?;
        let mut notes = Notes::kept();
        let results = (self.answer)(&request, &mut notes)?;
        host.output(&answer::frames(&request, &results)?)?;
        let results = host.finish(Exit::Code(0)).map_err(|failure| failure.violation)?;
        Ok(Reply::new(results, notes.into_kept()))
    }
}

impl std::fmt::Debug for FakeHost<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FakeHost").finish_non_exhaustive()
    }
}

/// What a request got: one [`TargetReply`] per target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    targets: Vec<TargetReply>,
    notes: Vec<String>,
}

impl Reply {
    fn new(results: Results, notes: Vec<String>) -> Self {
        let targets = results
            .results
            .into_iter()
            .map(|result| TargetReply { target: result.target, outcome: result.outcome })
            .collect();
        Self { targets, notes }
    }

    /// The outcomes in the order of the request, as a host returns them (P1-HOST-12).
    pub fn iter(&self) -> std::slice::Iter<'_, TargetReply> {
        self.targets.iter()
    }

    /// The outcome of one target, if it was asked about.
    #[must_use]
    pub fn get(&self, target: &str) -> Option<&TargetReply> {
        self.targets.iter().find(|reply| reply.target == target)
    }

    /// What the SDK would have written to standard error about targets that failed unexpectedly, a line each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl<'a> IntoIterator for &'a Reply {
    type Item = &'a TargetReply;
    type IntoIter = std::slice::Iter<'a, TargetReply>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Panics if the target was not asked about.
impl Index<&str> for Reply {
    type Output = TargetReply;

    fn index(&self, target: &str) -> &TargetReply {
        self.get(target).unwrap_or_else(|| panic!("the request has no target {target:?}"))
    }
}

/// What one target got: data, or an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetReply {
    target: String,
    outcome: Outcome,
}

impl TargetReply {
    /// The id of the target.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The data, if it got data.
    #[must_use]
    pub fn data(&self) -> Option<Value> {
        // The text was checked, so it can be read.
        self.data_json().and_then(|text| serde_json::from_str(text).ok())
    }

    /// The data as the JSON text that stands in the frame, if it got data.
    #[must_use]
    pub fn data_json(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Data(data) => Some(data.as_str()),
            Outcome::Error(_) => None,
        }
    }

    /// Code and message of the error, if it got one.
    #[must_use]
    pub fn error(&self) -> Option<(&str, &str)> {
        match &self.outcome {
            Outcome::Data(_) => None,
            Outcome::Error(error) => Some((&error.code, &error.message)),
        }
    }
}
