//! `sectile.lock`: what the workspace pins (PL-13).

use crate::error::RegistryError;
use crate::source_file::{read_text, replace};
use cap_std::fs::Dir;
use sectile_model::{Digest, PluginId};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub(crate) const LOCK_FILE: &str = "sectile.lock";

/// The pinned plugins of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// In the order of their ids.
    #[serde(default, rename = "plugin")]
    pub plugins: Vec<LockedPlugin>,
}

/// One pinned plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedPlugin {
    /// Its identity.
    pub id: PluginId,
    /// Its version.
    pub version: String,
    /// Where it came from.
    pub source: PathBuf,
    /// SHA-256 of the component.
    pub digest: Digest,
    /// SHA-256 of the definitions of its tools, when it has tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Digest>,
}

impl Lock {
    pub(crate) fn read(dir: &Dir, root: &Path) -> Result<Self, RegistryError> {
        let Some(text) = read_text(dir, root, LOCK_FILE)? else {
            return Ok(Self::default());
        };
        toml::from_str(&text).map_err(|e| RegistryError::Invalid {
            path: root.join(LOCK_FILE),
            why: e.to_string(),
        })
    }

    /// What is pinned for `id`.
    #[must_use]
    pub fn get(&self, id: &PluginId) -> Option<&LockedPlugin> {
        self.plugins.iter().find(|plugin| plugin.id == *id)
    }

    /// Pins `plugin` and writes the lock of the workspace at `root`.
    ///
    /// # Errors
    /// [`RegistryError::File`]; the old lock stays then.
    pub fn pin(&self, plugin: LockedPlugin, root: &Path) -> Result<(), RegistryError> {
        let mut next = self.clone();
        next.plugins.retain(|other| other.id != plugin.id);
        next.plugins.push(plugin);
        next.plugins.sort_by(|a, b| a.id.cmp(&b.id));
        let path = root.join(LOCK_FILE);
        let text = toml::to_string(&next).map_err(|e| RegistryError::Invalid {
            path: path.clone(),
            why: e.to_string(),
        })?;
        replace(
            &path,
            format!("# Written by sectile; pins what was approved.\n{text}").as_bytes(),
        )
    }
}
