//! A module: its actions and their handlers.

use std::process::ExitCode;

use modberth_protocol::ident::is_identifier;
use modberth_protocol::json::{RawJson, quote};
use modberth_protocol::process::Request;
use modberth_protocol::{Code, Violation};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::notes::Notes;
use crate::target::{Row, Target, TargetError, TargetResult};
use crate::{Batch, panics, run};

/// What a target gets when the module cannot do what was asked (P1-SDK-10).
const UNSUPPORTED: &str = "unsupported_action";

type Handler = Box<dyn Fn(&Request, &mut Notes) -> Result<Vec<TargetResult>, Violation>>;

/// A module: the actions it has, each with one handler.
///
/// A handler has one of two forms. [`Module::each`] is called once for every target and returns its data;
/// [`Module::batch`] is called once with all targets and returns all results.
///
/// ```
/// use modberth_sdk::{Module, Target, testing::FakeHost};
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize)]
/// struct Greet {
///     name: String,
/// }
///
/// let module = Module::new().each("greet", |target: &Target, parameters: &Greet| {
///     Ok(format!("{} greets {}", target.id(), parameters.name))
/// });
/// let reply = FakeHost::new(&module).invoke("greet", &["a"], &json!({"name": "Ada"}))?;
/// assert_eq!(reply["a"].data(), Some(json!("a greets Ada")));
/// # Ok::<(), modberth_sdk::Violation>(())
/// ```
#[derive(Default)]
pub struct Module {
    /// In the order in which they were added; a module has few.
    actions: Vec<(String, Handler)>,
}

impl Module {
    /// A module without actions. Whatever it is asked, every target gets the error `unsupported_action`, and standard
    /// error names the actions that the module has.
    ///
    /// ```
    /// use modberth_sdk::{Module, testing::FakeHost};
    ///
    /// let reply = FakeHost::new(&Module::new()).invoke("echo", &["a"], &serde_json::json!({}))?;
    /// assert_eq!(reply["a"].error(), Some(("unsupported_action", "This module has no action \"echo\".")));
    /// assert_eq!(reply.notes(), ["action \"echo\": not in this module; it has no actions"]);
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an action whose handler is called for one target after the other, in the order of the request, and returns
    /// that target's data: anything that implements `Serialize`.
    ///
    /// The parameters are read into `P`. If they do not fit, every target gets the error `unsupported_action`, and
    /// standard error names the parameter; a host that checks the parameters against the manifest never sends such.
    ///
    /// An error gives the target that error; see [`TargetError`]. A handler that panics gives the target the error
    /// `internal`, and standard error says where (P1-SDK-07). That needs unwinding: with `panic = "abort"` in the
    /// profile of your module a panic ends the whole action, as in a batch handler.
    ///
    /// # Panics
    ///
    /// If the action is no identifier (`[a-z][a-z0-9_.-]{0,95}`) or has a handler already.
    ///
    /// ```
    /// use modberth_sdk::{Module, Target, TargetError, testing::FakeHost};
    /// use serde_json::{Value, json};
    ///
    /// let module = Module::new().each("length", |target: &Target, _: &Value| match target.id() {
    ///     "root" => Err(TargetError::new("not_allowed", "Not this one.")),
    ///     id => Ok(id.len()),
    /// });
    /// let reply = FakeHost::new(&module).invoke("length", &["abc", "root"], &json!({}))?;
    /// assert_eq!(reply["abc"].data(), Some(json!(3)));
    /// assert_eq!(reply["root"].error(), Some(("not_allowed", "Not this one.")));
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn each<P, D, F>(self, action: &str, handler: F) -> Self
    where
        P: DeserializeOwned + 'static,
        D: Serialize,
        F: Fn(&Target, &P) -> Result<D, TargetError> + 'static,
    {
        self.add(
            action,
            Box::new(move |request, notes| {
                let targets = targets(request);
                let parameters: P = match read(request, notes) {
                    Some(parameters) => parameters,
                    None => return Ok(unfit(request, &targets)),
                };
                Ok(targets.iter().map(|target| each_target(&handler, target, &parameters, notes)).collect())
            }),
        )
    }

    /// Adds an action whose handler is called once with the whole batch and returns one result per target, in any
    /// order; [`Target::data`] and [`Target::error`] build them (P1-SDK-03).
    ///
    /// The parameters are read as for [`Module::each`]. An error, or a panic, ends the process with exit status 1 and
    /// without a result (P1-SDK-07), and so does a list of results that a host would refuse (P1-SDK-05).
    ///
    /// # Panics
    ///
    /// If the action is no identifier (`[a-z][a-z0-9_.-]{0,95}`) or has a handler already.
    ///
    /// ```
    /// use modberth_sdk::{Batch, Module, testing::FakeHost};
    /// use serde_json::json;
    ///
    /// let module = Module::new().batch("neighbour", |batch: &Batch| {
    ///     let next = batch.iter().cycle().skip(1);
    ///     Ok(batch.iter().zip(next).map(|(target, next)| target.data(next.id())).collect())
    /// });
    /// let reply = FakeHost::new(&module).invoke("neighbour", &["a", "b"], &json!({}))?;
    /// assert_eq!(reply["b"].data(), Some(json!("a")));
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn batch<P, F>(self, action: &str, handler: F) -> Self
    where
        P: DeserializeOwned + 'static,
        F: Fn(&Batch<P>) -> Result<Vec<TargetResult>, Box<dyn std::error::Error>> + 'static,
    {
        self.add(
            action,
            Box::new(move |request, notes| {
                let Some(parameters) = read(request, notes) else {
                    return Ok(unfit(request, &targets(request)));
                };
                let batch = Batch {
                    id: request.id().to_owned(),
                    action: request.action().to_owned(),
                    targets: targets(request),
                    parameters,
                    parameters_json: request.parameters().as_str().to_owned(),
                };
                match panics::caught(|| handler(&batch)) {
                    Ok(Ok(results)) => {
                        results.iter().for_each(|result| note_cause(result, notes));
                        Ok(results)
                    }
                    Ok(Err(error)) => Err(failed(request, &error.to_string())),
                    Err(panic) => Err(failed(request, &panic)),
                }
            }),
        )
    }

    fn add(mut self, action: &str, handler: Handler) -> Self {
        assert!(is_identifier(action), "{action:?} is no name of an action: [a-z][a-z0-9_.-]{{0,95}}");
        assert!(self.names().all(|name| name != action), "the action {action:?} has a handler already");
        self.actions.push((action.to_owned(), handler));
        self
    }

    fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.actions.iter().map(|(name, _)| name.as_str())
    }

    /// Answers the one request of this process on its standard streams: the last call of `main`.
    ///
    /// Returns success when an answer was written, errors of targets included. Whatever else happens ends with exit
    /// status 1, no byte on standard output, and the line `modberth: CODE: PLACE: TEXT` on standard error (P1-SDK-07).
    /// Standard output belongs to the SDK from here on: what the module or a child process prints goes to standard
    /// error (P1-SDK-06). A panic writes one bounded line instead of the default message.
    ///
    /// ```no_run
    /// use modberth_sdk::{Module, Target};
    /// use serde_json::Value;
    ///
    /// fn main() -> std::process::ExitCode {
    ///     Module::new().each("ping", |_: &Target, _: &Value| Ok("pong")).run()
    /// }
    /// ```
    #[must_use = "the exit status tells the host whether there is an answer"]
    pub fn run(self) -> ExitCode {
        run::process(|request, notes| self.call(request, notes))
    }

    /// The results for a request, not yet checked.
    pub(crate) fn call(&self, request: &Request, notes: &mut Notes) -> Result<Vec<TargetResult>, Violation> {
        match self.actions.iter().find(|(name, _)| name == request.action()) {
            Some((_, handler)) => handler(request, notes),
            None => {
                notes.add_unknown_action(request.action(), self.names());
                let message = format!("This module has no action {}.", quote(request.action()));
                Ok(targets(request).iter().map(|target| target.error(UNSUPPORTED, &message)).collect())
            }
        }
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module").field("actions", &self.names().collect::<Vec<_>>()).finish()
    }
}

fn targets(request: &Request) -> Vec<Target> {
    request.targets().iter().enumerate().map(|(index, id)| Target::new(id, index)).collect()
}

/// The result of one target: whatever the handler, or the writing of its data, does.
fn each_target<P, D: Serialize>(
    handler: impl Fn(&Target, &P) -> Result<D, TargetError>,
    target: &Target,
    parameters: &P,
    notes: &mut Notes,
) -> TargetResult {
    let called = panics::caught(|| target.result(handler(target, parameters)));
    let result = called.unwrap_or_else(|panic| target.result(Err::<(), _>(TargetError::unexpected(panic))));
    note_cause(&result, notes);
    result
}

/// Notes why a target failed unexpectedly.
fn note_cause(result: &TargetResult, notes: &mut Notes) {
    if let Row::Error { target, cause: Some(cause), .. } = &result.0 {
        notes.add(&format!("target {}: {cause}", quote(target)));
    }
}

fn failed(request: &Request, cause: &str) -> Violation {
    Violation::new(
        Code::OutputHandlerFailed,
        format!("The handler of the action {} failed: {cause}", quote(request.action())),
    )
}

/// The parameters as the handler wants them, or nothing and a note that names the parameter.
fn read<P: DeserializeOwned>(request: &Request, notes: &mut Notes) -> Option<P> {
    serde_json::from_str(request.parameters().as_str())
        .inspect_err(|error| {
            let place = parameter_at(request.parameters(), error)
                .map_or_else(String::new, |name| format!("parameter {}: ", quote(&name)));
            let reason = without_position(error);
            notes.add(&format!("action {}: {place}{reason}", quote(request.action())));
        })
        .ok()
}

/// What the reader says, without the line and the column: they are those of a text that the author never sees.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let mut reason = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if reason.ends_with(&position) {
        reason.truncate(reason.len() - position.len());
    }
    reason
}

/// The parameter inside which the reader stopped.
fn parameter_at(parameters: &RawJson, error: &serde_json::Error) -> Option<String> {
    let lines_before = parameters.as_str().split_inclusive('\n').take(error.line().checked_sub(1)?);
    let offset = lines_before.map(str::len).sum::<usize>() + error.column();
    let members = parameters.raw().members()?;
    let (name, _) = members.take_while(|(_, value)| value.range().start < offset).last()?;
    // A reader that finds a member missing stops at the closing brace.
    (offset < parameters.as_str().len()).then(|| name.into_owned())
}

/// Every target gets the error that says these parameters are not supported.
fn unfit(request: &Request, targets: &[Target]) -> Vec<TargetResult> {
    let message = format!("The parameters do not fit the action {}.", quote(request.action()));
    targets.iter().map(|target| target.error(UNSUPPORTED, &message)).collect()
}
