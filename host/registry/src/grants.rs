//! The operator's grants (PL-11, PL-12): which digest may do what in which
//! workspace. They lie in the user's data directory, never in a workspace.

use crate::dirs::Dirs;
use crate::error::RegistryError;
use crate::source_file::{MAX_CONFIG, read, replace};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sectile_manifest::CapabilityRequests;
use sectile_model::{Digest, PluginId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const GRANTS_FILE: &str = "grants.json";

/// All grants of this user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    workspaces: BTreeMap<PathBuf, Vec<Grant>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Grant {
    plugin: PluginId,
    digest: Digest,
    capability: CapabilityRequests,
    /// Of the definitions of its tools, as they were when it was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tools: Option<Digest>,
}

/// What the operator allowed a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted<'a> {
    /// What it may reach.
    pub capability: &'a CapabilityRequests,
    /// Digest of the definitions of its tools.
    pub tools: Option<Digest>,
}

impl Grants {
    /// The grants in `dirs`.
    ///
    /// # Errors
    /// [`RegistryError`] when the file is there and not valid: it is never
    /// overwritten then.
    pub fn load(dirs: &Dirs) -> Result<Self, RegistryError> {
        let Ok(dir) = Dir::open_ambient_dir(&dirs.data, ambient_authority()) else {
            return Ok(Self::default());
        };
        let Some(bytes) = read(&dir, &dirs.data, Path::new(GRANTS_FILE), 16 * MAX_CONFIG)? else {
            return Ok(Self::default());
        };
        serde_json::from_slice(&bytes).map_err(|e| RegistryError::Invalid {
            path: dirs.data.join(GRANTS_FILE),
            why: e.to_string(),
        })
    }

    /// What the component `digest` of `plugin` may do in `workspace`, if it was approved.
    #[must_use]
    pub fn get(&self, workspace: &Path, plugin: &PluginId, digest: &Digest) -> Option<Granted<'_>> {
        let grant = self.of(workspace, plugin)?;
        (grant.digest == *digest).then(|| grant.granted())
    }

    /// What the bundled `plugin` may do in `workspace`. Which bytes it has is
    /// the program's own matter (PL-18): another release changes no grant.
    #[must_use]
    pub fn bundled(&self, workspace: &Path, plugin: &PluginId) -> Option<Granted<'_>> {
        self.of(workspace, plugin).map(Grant::granted)
    }

    /// Whether another component of `plugin` was approved in `workspace`.
    #[must_use]
    pub fn knows(&self, workspace: &Path, plugin: &PluginId) -> bool {
        self.of(workspace, plugin).is_some()
    }

    /// There is one for each plugin: an approval replaces the one before.
    fn of(&self, workspace: &Path, plugin: &PluginId) -> Option<&Grant> {
        let grants = self.workspaces.get(workspace)?;
        grants.iter().find(|grant| grant.plugin == *plugin)
    }

    /// Grants `granted` to a component, in place of what any other component
    /// of the plugin had, and writes it down.
    ///
    /// # Errors
    /// [`RegistryError`]; nothing is changed then.
    pub fn approve(
        dirs: &Dirs,
        workspace: &Path,
        plugin: &PluginId,
        digest: Digest,
        granted: Granted<'_>,
    ) -> Result<(), RegistryError> {
        let path = dirs.data.join(GRANTS_FILE);
        let failed = |why: std::io::Error| RegistryError::File {
            path: path.clone(),
            why: why.to_string(),
        };
        fs::create_dir_all(&dirs.data).map_err(failed)?;
        // One writer at a time, so that no approval is lost to another.
        let guard = fs::File::create(dirs.data.join("grants.lock")).map_err(failed)?;
        guard.lock().map_err(failed)?;
        let mut grants = Self::load(dirs)?;
        let of_workspace = grants.workspaces.entry(workspace.to_owned()).or_default();
        of_workspace.retain(|g| g.plugin != *plugin);
        of_workspace.push(Grant {
            plugin: plugin.clone(),
            digest,
            capability: granted.capability.clone(),
            tools: granted.tools,
        });
        let json = serde_json::to_vec_pretty(&grants).map_err(|e| RegistryError::Invalid {
            path: path.clone(),
            why: e.to_string(),
        })?;
        replace(&path, &json)
    }
}

impl Grant {
    fn granted(&self) -> Granted<'_> {
        Granted {
            capability: &self.capability,
            tools: self.tools,
        }
    }
}
