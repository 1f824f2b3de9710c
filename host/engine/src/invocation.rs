//! What a caller asks for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use modberth_package::{Folder, Package};

/// A package and the folder that holds its members: what can be run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Module {
    /// The package.
    pub package: Arc<Package>,
    /// The folder with its members: the working directory of its processes.
    pub folder: PathBuf,
}

impl Module {
    /// A package whose members are in `folder`: an unpacked archive, where
    /// [`modberth_package::install::unpack`] has put and checked them.
    pub fn new(package: impl Into<Arc<Package>>, folder: impl Into<PathBuf>) -> Self {
        Self { package: package.into(), folder: folder.into() }
    }
}

impl From<Folder> for Module {
    /// A development folder.
    fn from(folder: Folder) -> Self {
        Self::new(folder.package, folder.payload)
    }
}

/// One action on one batch of targets, by one caller. Nothing of it is checked before
/// [`Host::invoke`](crate::Host::invoke), which checks all of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Invocation {
    /// The module that has the action.
    pub module: Module,
    /// The action's id in the manifest.
    pub action: String,
    /// The target ids, 1 to 64, in the order in which the results come back.
    pub targets: Vec<String>,
    /// The parameters, in one of two forms.
    pub parameters: Parameters,
    /// Who asks. Default `operator`.
    pub caller: String,
    /// A shorter deadline than the protocol's; a longer one is cut to it. `None`: the protocol's (P1-HOST-25).
    pub deadline: Option<Duration>,
    /// What the package may use on which targets. An action of protocol 1 can use no grant.
    pub grants: Vec<Grant>,
}

impl Invocation {
    /// An action of a module, without targets, with the empty object as parameters, asked for by `operator`.
    pub fn new(module: impl Into<Module>, action: impl Into<String>) -> Self {
        Self {
            module: module.into(),
            action: action.into(),
            targets: Vec::new(),
            parameters: Parameters::Json { bytes: b"{}".to_vec(), file: None },
            caller: "operator".to_owned(),
            deadline: None,
            grants: Vec::new(),
        }
    }

    /// Adds a target.
    #[must_use]
    pub fn target(mut self, id: impl Into<String>) -> Self {
        self.targets.push(id.into());
        self
    }

    /// Adds targets.
    #[must_use]
    pub fn targets<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.targets.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Sets the parameters: the bytes of one JSON object.
    #[must_use]
    pub fn parameters(mut self, json: impl Into<Vec<u8>>) -> Self {
        self.parameters = Parameters::Json { bytes: json.into(), file: None };
        self
    }

    /// Sets the parameters: what a file holds. A refusal of them names the file.
    #[must_use]
    pub fn parameters_of_file(mut self, json: impl Into<Vec<u8>>, file: impl Into<String>) -> Self {
        self.parameters = Parameters::Json { bytes: json.into(), file: Some(file.into()) };
        self
    }

    /// Sets the parameters: names with texts, read by the types that the action declares, as
    /// [`Schema::read_texts`](modberth_package::parameters::Schema::read_texts) says.
    #[must_use]
    pub fn parameter_texts<N: Into<String>, T: Into<String>>(
        mut self,
        texts: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        let texts = texts.into_iter().map(|(name, text)| (name.into(), text.into()));
        self.parameters = Parameters::Texts(texts.collect());
        self
    }

    /// Says who asks.
    #[must_use]
    pub fn caller(mut self, name: impl Into<String>) -> Self {
        self.caller = name.into();
        self
    }

    /// Asks for a shorter deadline.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Adds a grant.
    #[must_use]
    pub fn grant(mut self, grant: Grant) -> Self {
        self.grants.push(grant);
        self
    }
}

/// The parameters of an invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parameters {
    /// The bytes of one JSON object. They reach the module as they stand here.
    #[non_exhaustive]
    Json {
        /// The object.
        bytes: Vec<u8>,
        /// The file that it came from, for refusals.
        file: Option<String>,
    },
    /// Names with texts, read by the types that the action declares.
    Texts(Vec<(String, String)>),
}

/// Permission for a package to use one capability on some targets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grant {
    /// The capability, such as `system:read`.
    pub capability: String,
    /// The target ids.
    pub targets: Vec<String>,
}

impl Grant {
    /// A grant of a capability on targets.
    pub fn new<T: Into<String>>(capability: impl Into<String>, targets: impl IntoIterator<Item = T>) -> Self {
        Self { capability: capability.into(), targets: targets.into_iter().map(Into::into).collect() }
    }
}
