//! What plugins keep for themselves in a workspace: the `kv` capability.

use crate::error::StoreError;
use sectile_model::PluginId;

/// What plugins keep for themselves. A plugin sees its own keys alone; which
/// plugin may keep something, and how much, is its grant's matter.
pub trait PluginValues: Send + Sync {
    /// The value of `key`.
    ///
    /// # Errors
    /// Those of the medium.
    fn value(&self, plugin: &PluginId, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Keeps `value` under `key`. All that the plugin keeps must fit into `quota`
    /// bytes, where an entry takes its key, its value and 64 bytes more.
    ///
    /// # Errors
    /// [`StoreError::Quota`], and those of the medium; the old value stays then.
    fn set_value(
        &self,
        plugin: &PluginId,
        key: &str,
        value: &[u8],
        quota: u64,
    ) -> Result<(), StoreError>;

    /// Removes `key`, if it is there.
    ///
    /// # Errors
    /// Those of the medium.
    fn remove_value(&self, plugin: &PluginId, key: &str) -> Result<(), StoreError>;

    /// The keys that start with `prefix`, in byte order.
    ///
    /// # Errors
    /// Those of the medium.
    fn keys(&self, plugin: &PluginId, prefix: &str) -> Result<Vec<String>, StoreError>;
}
