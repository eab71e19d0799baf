//! What a plugin keeps for itself, within its grant (the `kv` capability).

use sectile_model::PluginId;
use sectile_sandbox::{FailureKind, KeyValues, PluginFailure, one_line};
use sectile_store::{PluginValues, StoreError};
use std::fmt;
use std::sync::Arc;

/// The values of one plugin.
pub(crate) struct OwnValues {
    pub(crate) store: Arc<dyn PluginValues>,
    pub(crate) plugin: PluginId,
    /// Bytes that it was granted.
    pub(crate) quota: u64,
}

impl fmt::Debug for OwnValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "values of {}, {} bytes", self.plugin, self.quota)
    }
}

impl KeyValues for OwnValues {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, PluginFailure> {
        self.store.value(&self.plugin, key).map_err(told)
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<(), PluginFailure> {
        let kept = self.store.set_value(&self.plugin, key, value, self.quota);
        kept.map_err(told)
    }

    fn delete(&self, key: &str) -> Result<(), PluginFailure> {
        self.store.remove_value(&self.plugin, key).map_err(told)
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, PluginFailure> {
        self.store.keys(&self.plugin, prefix).map_err(told)
    }
}

fn told(error: StoreError) -> PluginFailure {
    PluginFailure {
        kind: FailureKind::Unavailable,
        message: one_line(&error.to_string()),
    }
}
