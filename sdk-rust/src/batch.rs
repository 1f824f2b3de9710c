//! The request as a handler of the whole batch sees it.

use serde_json::Value;

use crate::Target;

/// One request: its targets and parameters. A handler of the whole batch gets it in one call (P1-SDK-03).
///
/// `P` is the type the parameters are read into; without a type of your own they are a [`serde_json::Value`].
///
/// ```
/// use modberth_sdk::{Batch, Module, testing::FakeHost};
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize)]
/// struct Rank {
///     descending: bool,
/// }
///
/// let module = Module::new().batch("rank", |batch: &Batch<Rank>| {
///     let mut order: Vec<_> = batch.iter().collect();
///     order.sort_by_key(|target| target.id());
///     if batch.parameters().descending {
///         order.reverse();
///     }
///     Ok(order.iter().enumerate().map(|(rank, target)| target.data(rank)).collect())
/// });
/// let reply = FakeHost::new(&module).invoke("rank", &["b", "c", "a"], &json!({"descending": true}))?;
/// assert_eq!(reply["c"].data(), Some(json!(0)));
/// # Ok::<(), modberth_sdk::Violation>(())
/// ```
#[derive(Debug, Clone)]
pub struct Batch<P = Value> {
    pub(crate) id: String,
    pub(crate) action: String,
    pub(crate) targets: Vec<Target>,
    pub(crate) parameters: P,
    pub(crate) parameters_json: String,
}

impl<P> Batch<P> {
    /// The id of the request, 1 to 128 code points. The SDK copies it into the answer; a handler rarely needs it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the action.
    #[must_use]
    pub fn action(&self) -> &str {
        &self.action
    }

    /// The targets in the order of the request, 1 to 64 of them, all different.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &P {
        &self.parameters
    }

    /// The parameters as the JSON text that the host sent: a checked object, white space and number forms untouched.
    ///
    /// ```
    /// # use modberth_sdk::{Batch, Module, testing::FakeHost};
    /// # use serde_json::json;
    /// # let module = Module::new().batch("text", |batch: &Batch| Ok(batch.iter().map(|target| target.data(
    /// batch.parameters_json()
    /// # )).collect()));
    /// # let reply = FakeHost::new(&module).invoke("text", &["a"], &json!({"n": 1}))?;
    /// # assert_eq!(reply["a"].data(), Some(json!(r#"{"n":1}"#)));
    /// # Ok::<(), modberth_sdk::Violation>(())
    /// ```
    #[must_use]
    pub fn parameters_json(&self) -> &str {
        &self.parameters_json
    }

    /// How many targets there are: 1 to 64.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Never true; a request has at least one target.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The targets one after the other.
    pub fn iter(&self) -> std::slice::Iter<'_, Target> {
        self.targets.iter()
    }
}

impl<'a, P> IntoIterator for &'a Batch<P> {
    type Item = &'a Target;
    type IntoIter = std::slice::Iter<'a, Target>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
