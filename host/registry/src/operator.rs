//! The operator's own configuration, outside every workspace.

use crate::dirs::Dirs;
use crate::error::RegistryError;
use crate::provider::ProviderEntry;
use crate::source_file::read_text;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sectile_model::{ModelCapabilities, PluginId};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const CONFIG_FILE: &str = "config.toml";

/// `config.toml` in the operator's configuration directory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Operator {
    /// The model that requests are composed for.
    pub model: Option<ModelCapabilities>,
    /// Roots of skills in place of the profile's; `~/` is the home directory.
    pub skill_roots: Option<Vec<String>>,
    /// Skills that are not listed, by name (WS-44).
    pub disabled_skills: BTreeSet<String>,
    /// What sessions may do without asking.
    pub mode: Mode,
    /// Model calls that one turn may take (SR-21).
    pub max_model_calls: u32,
    /// Which tools are sent with every request, and which are found first.
    pub tools: ToolChoices,
    /// Name of the provider that turns go to.
    pub provider: Option<String>,
    /// What is said of providers, by name.
    pub providers: BTreeMap<String, ProviderEntry>,
    /// Configuration by plugin; it wins over the workspace's and the profile's.
    pub config: BTreeMap<PluginId, toml::Table>,
}

/// Which tools are sent with every request, and which a model has to find first
/// (PS-30). Each entry is a tool's name in the request, or a plugin's id for all
/// of its tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolChoices {
    /// Sent with every request, whatever else is said.
    pub always_load: BTreeSet<String>,
    /// Found first.
    pub defer: BTreeSet<String>,
}

/// What a session may do without asking (WS-50).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The operator is asked where a rule says so.
    #[default]
    Auto,
    /// Edits inside the workspace are accepted.
    AcceptEdits,
}

impl Mode {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::AcceptEdits => "accept-edits",
        }
    }
}

impl Default for Operator {
    fn default() -> Self {
        Self {
            model: None,
            skill_roots: None,
            disabled_skills: BTreeSet::new(),
            mode: Mode::default(),
            max_model_calls: 20,
            tools: ToolChoices::default(),
            provider: None,
            providers: BTreeMap::new(),
            config: BTreeMap::new(),
        }
    }
}

impl Operator {
    /// The configuration in `dirs`, or the default when there is none.
    ///
    /// # Errors
    /// [`RegistryError`] when it does not parse.
    pub fn load(dirs: &Dirs) -> Result<Self, RegistryError> {
        let Ok(dir) = Dir::open_ambient_dir(&dirs.config, ambient_authority()) else {
            return Ok(Self::default());
        };
        let Some(text) = read_text(&dir, &dirs.config, CONFIG_FILE)? else {
            return Ok(Self::default());
        };
        toml::from_str(&text).map_err(|e| RegistryError::Invalid {
            path: dirs.config.join(CONFIG_FILE),
            why: e.to_string(),
        })
    }
}
