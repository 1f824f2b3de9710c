//! `modberth.json`: what a package of Modberth carries beside the manifest.
//!
//! ```json
//! {
//!   "examples": {"echo": [{"targets": ["a", "b"], "parameters": {"message": "Hello"}}]},
//!   "limits": {"memory_mib": 64, "tasks": 8, "cpu_percent": 50}
//! }
//! ```
//!
//! Both fields may be absent. The member is an ordinary file of the package, so other hosts of the format ignore it.

use std::collections::BTreeMap;

use modberth_protocol::ident::check_target;
use modberth_protocol::json::{self, Profile, Raw, RawJson};
use modberth_protocol::limits::TARGETS;
use modberth_protocol::{Code, Violation};

use crate::fields;
use crate::limits::{
    ACTIONS, HINT_CPU_PERCENT, HINT_EXAMPLES, HINT_MEMORY_MIB, HINT_TASKS, HINTS_BYTES, HINTS_NAME,
};
use crate::manifest::{Action, Manifest};
use crate::problem::{At, Problems, Sink};

/// A request that an action answers with one outcome per target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Example {
    /// The targets: 1 to 64 distinct ids.
    pub targets: Vec<String>,
    /// The parameters, checked against the schema of the action.
    pub parameters: RawJson,
}

/// What the package would like instead of the host's defaults. The host's ceiling binds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceHints {
    /// Memory in MiB, 16 to 16,384.
    pub memory_mib: Option<u32>,
    /// Processes and threads together, 1 to 1,024.
    pub tasks: Option<u32>,
    /// Processor time in percent of one CPU, 5 to 1,600.
    pub cpu_percent: Option<u32>,
}

/// The contents of `modberth.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints {
    /// Examples by action.
    pub examples: BTreeMap<String, Vec<Example>>,
    /// Resource hints.
    pub limits: ResourceHints,
}

impl Hints {
    /// Reads and checks the bytes of `modberth.json` against the manifest: strict JSON of at most 1,048,576 bytes;
    /// every example is a legal request of a declared action.
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub fn parse(bytes: &[u8], manifest: &Manifest) -> Result<Self, Problems> {
        if bytes.len() > HINTS_BYTES {
            return Err(Violation::new(
                Code::PackageHintsTooLarge,
                format!("modberth.json has at most {HINTS_BYTES} bytes; found {}.", bytes.len()),
            )
            .file(HINTS_NAME)
            .limit(HINTS_BYTES)
            .actual(bytes.len())
            .into());
        }
        let raw = json::parse(bytes, &Profile::PROCESS).map_err(|fault| fault.file(HINTS_NAME))?;
        let mut sink = Sink::new(HINTS_NAME);
        let hints = read(raw, manifest, &mut sink);
        sink.finish(hints)
    }
}

fn read(raw: Raw<'_>, manifest: &Manifest, sink: &mut Sink) -> Option<Hints> {
    let root = At::ROOT;
    let object = fields::object(raw, &root, sink)?;
    object.expect(&root, sink, &[], &["examples", "limits"]);
    let mut hints = Hints::default();
    if let Some(raw) = object.get("examples") {
        hints.examples = examples(raw, &root.name("examples"), manifest, sink)?;
    }
    if let Some(raw) = object.get("limits") {
        hints.limits = limits(raw, &root.name("limits"), sink)?;
    }
    Some(hints)
}

fn limits(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<ResourceHints> {
    let object = fields::object(raw, at, sink)?;
    object.expect(at, sink, &[], &["memory_mib", "tasks", "cpu_percent"]);
    let mut limit = |name: &str, (least, most): (i64, i64)| {
        let value = fields::integer(object.get(name)?, &at.name(name), sink, least, most)?;
        u32::try_from(value).ok()
    };
    Some(ResourceHints {
        memory_mib: limit("memory_mib", HINT_MEMORY_MIB),
        tasks: limit("tasks", HINT_TASKS),
        cpu_percent: limit("cpu_percent", HINT_CPU_PERCENT),
    })
}

fn examples(
    raw: Raw<'_>,
    at: &At<'_>,
    manifest: &Manifest,
    sink: &mut Sink,
) -> Option<BTreeMap<String, Vec<Example>>> {
    let object = fields::object(raw, at, sink)?;
    if !fields::count(object.entries().len(), at, sink, 0, ACTIONS) {
        return None;
    }
    let mut examples = BTreeMap::new();
    for (id, raw) in object.entries() {
        let at = at.name(id);
        let action = match manifest.require_action(id) {
            Ok(action) => action,
            Err(fault) => {
                sink.add(
                    Violation::new(Code::PackageExample, fault.message)
                        .path(at.to_string())
                        .advise("Mend the name, or declare the action in manifest.json."),
                );
                continue;
            }
        };
        let list = fields::list(*raw, &at, sink, 1, HINT_EXAMPLES).unwrap_or_default();
        let list = list
            .into_iter()
            .enumerate()
            .filter_map(|(index, raw)| example(raw, &at.index(index), action, sink))
            .collect();
        examples.insert(action.id.clone(), list);
    }
    Some(examples)
}

fn example(raw: Raw<'_>, at: &At<'_>, action: &Action, sink: &mut Sink) -> Option<Example> {
    let object = fields::object(raw, at, sink)?;
    object.expect(at, sink, &["targets", "parameters"], &[]);
    let targets = object.get("targets").and_then(|raw| targets(raw, &at.name("targets"), sink));
    let parameters = object.get("parameters")?;
    if let Err(fault) = action.parameters.check(parameters) {
        let place = fault.place.path.as_deref().unwrap_or("parameters");
        let mut problem = Violation::new(Code::PackageExample, fault.message).path(format!("{at}.{place}"));
        (problem.limit, problem.actual) = (fault.limit, fault.actual);
        problem.place.parameter = fault.place.parameter;
        sink.add(problem);
    }
    Some(Example { targets: targets?, parameters: RawJson::from(parameters) })
}

fn targets(raw: Raw<'_>, at: &At<'_>, sink: &mut Sink) -> Option<Vec<String>> {
    let list = fields::list(raw, at, sink, 1, TARGETS)?;
    let mut targets: Vec<String> = Vec::with_capacity(list.len());
    for (index, raw) in list.into_iter().enumerate() {
        let at = at.index(index);
        let Some(target) = raw.as_str() else {
            sink.at(
                &at,
                Code::PackageFieldType,
                format!("This is a string; found {}.", fields::describe(raw)),
            );
            continue;
        };
        if let Err(fault) = check_target(&target) {
            let mut problem =
                Violation::new(Code::PackageExample, fault.message).path(at.to_string()).target(target);
            (problem.limit, problem.actual) = (fault.limit, fault.actual);
            sink.add(problem);
        } else if targets.iter().any(|other| *other == target) {
            sink.at(
                &at,
                Code::PackageExample,
                format!("The target {} stands twice.", fields::shown(&target)),
            );
        } else {
            targets.push(target.into_owned());
        }
    }
    Some(targets)
}
