//! `plugin.toml` as types.

use crate::capability::CapabilityRequests;
use crate::checks;
use crate::quantity::{ByteSize, Span};
use crate::text;
use sectile_model::{PluginId, SectionId, Tag, ToolName};
use semver::Version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Characters of a parser's message that are kept.
const MAX_MESSAGE: usize = 2_000;

/// What a plugin is and asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What it is.
    pub plugin: PluginInfo,
    /// Its sections.
    #[serde(default, rename = "section", skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionRequest>,
    /// Its tools.
    #[serde(default, rename = "tool", skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolRequest>,
    /// What it asks for.
    #[serde(default)]
    pub capability: CapabilityRequests,
    /// How much of the host it asks for.
    #[serde(default)]
    pub limits: LimitRequests,
}

/// What a plugin is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginInfo {
    /// Its identity.
    pub id: PluginId,
    /// Its version.
    pub version: Version,
    /// The contract it was built against, as `0.1`.
    #[serde(deserialize_with = "text::contract")]
    pub contract: String,
    /// One line.
    #[serde(deserialize_with = "text::one_line")]
    pub description: String,
    /// SPDX expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Where to learn more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
}

/// A section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionRequest {
    /// Its identity.
    pub id: SectionId,
    /// Its marker (WS-11).
    pub tag: Tag,
    /// Where it stands in the request.
    #[serde(default)]
    pub placement: Placement,
    /// How long a `system` body is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CachePolicy>,
    /// Ceiling of its body; the host has one of its own for third parties (WS-14).
    #[serde(deserialize_with = "text::at_least_one")]
    pub max_tokens: u32,
    /// What is said when it changes, by locale (WS-10).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notices: BTreeMap<String, Notices>,
}

/// A tool, named before any code of the plugin runs; the rest of its definition
/// comes from the plugin and is pinned when it is approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRequest {
    /// Its name in the plugin.
    pub name: ToolName,
}

/// Where a section stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// In the conversation, sent again when it changes.
    #[default]
    WorldState,
    /// In the system context.
    System,
}

/// How long a `system` body is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// For the life of a session.
    Session,
    /// Not at all.
    None,
}

/// What is said when a section changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notices {
    /// Before a body that replaces an earlier one.
    pub replaced: String,
    /// When the section is gone.
    pub expired: String,
}

/// How much of the host a plugin asks for; the operator's ceiling wins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitRequests {
    /// Linear memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
    /// Wall time of one call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Span>,
    /// Bytes of one result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<ByteSize>,
}

/// A manifest that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// It does not parse; the text has line and column.
    #[error("the manifest is not valid: {0}")]
    Invalid(String),
    /// It parses and contradicts itself or the rules.
    #[error("the manifest is not valid: {what}: {why}{}", place(.line, .column))]
    Rule {
        /// Which entry.
        what: String,
        /// Which rule.
        why: &'static str,
        /// Its line in `plugin.toml`, from 1; `None` inside a component.
        line: Option<usize>,
        /// Its column there, from 1.
        column: Option<usize>,
    },
}

fn place(line: &Option<usize>, column: &Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        _ => String::new(),
    }
}

impl ManifestError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid_manifest"
    }

    /// What a parser says, which may quote the author: nothing in it can
    /// steer a terminal.
    fn invalid(error: impl ToString) -> Self {
        let text = error.to_string();
        let mut shown = String::new();
        for c in text.chars().take(MAX_MESSAGE) {
            match c {
                '\n' => shown.push(c),
                c if c.is_control() => shown.extend(c.escape_debug()),
                c => shown.push(c),
            }
        }
        Self::Invalid(shown)
    }
}

impl Manifest {
    /// Reads `plugin.toml`.
    ///
    /// # Errors
    /// [`ManifestError`], with line and column.
    pub fn from_toml(text: &str) -> Result<Self, ManifestError> {
        let manifest: Self = toml::from_str(text).map_err(ManifestError::invalid)?;
        manifest.checked(|entry| checks::place(text, entry))
    }

    /// Reads the JSON that a component carries.
    ///
    /// # Errors
    /// [`ManifestError`]; what does not parse with line and column.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ManifestError> {
        let manifest: Self = serde_json::from_slice(bytes).map_err(ManifestError::invalid)?;
        manifest.checked(|_| None)
    }

    /// The JSON that a component carries.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        // String keys only: this cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    fn checked(
        self,
        place: impl Fn(&str) -> Option<(usize, usize)>,
    ) -> Result<Self, ManifestError> {
        match checks::check(&self) {
            Ok(()) => Ok(self),
            Err(broken) => {
                let (line, column) = place(&broken.entry).unzip();
                Err(ManifestError::Rule {
                    what: broken.what.escape_debug().to_string(),
                    why: broken.why,
                    line,
                    column,
                })
            }
        }
    }
}
