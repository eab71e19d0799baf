//! `plugin.toml` as types.

use crate::capability::CapabilityRequests;
use crate::quantity::{ByteSize, Span};
use sectile_model::{PluginId, SectionId, Tag};
use semver::Version;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Contract versions that this program speaks (PL-3).
const CONTRACTS: [&str; 1] = ["0.1"];

/// What a plugin is and asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// What it is.
    pub plugin: PluginInfo,
    /// Its sections.
    #[serde(default, rename = "section", skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionRequest>,
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
    pub contract: String,
    /// One line.
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
    pub max_tokens: u32,
    /// What is said when it changes, by locale (WS-10).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notices: BTreeMap<String, Notices>,
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
    #[error("the manifest is not valid: {what}: {why}")]
    Rule {
        /// Which entry.
        what: String,
        /// Which rule.
        why: &'static str,
    },
}

impl ManifestError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid_manifest"
    }
}

impl Manifest {
    /// Reads `plugin.toml`.
    ///
    /// # Errors
    /// [`ManifestError`], with line and column where there is one.
    pub fn from_toml(text: &str) -> Result<Self, ManifestError> {
        let manifest: Self =
            toml::from_str(text).map_err(|e| ManifestError::Invalid(e.to_string()))?;
        manifest.checked()
    }

    /// Reads the JSON that a component carries.
    ///
    /// # Errors
    /// [`ManifestError`], with line and column where there is one.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ManifestError> {
        let manifest: Self =
            serde_json::from_slice(bytes).map_err(|e| ManifestError::Invalid(e.to_string()))?;
        manifest.checked()
    }

    /// The JSON that a component carries.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        // String keys only: this cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    fn checked(self) -> Result<Self, ManifestError> {
        let broken = |what: &dyn ToString, why| {
            Err(ManifestError::Rule {
                what: what.to_string().escape_debug().to_string(),
                why,
            })
        };
        if !CONTRACTS.contains(&self.plugin.contract.as_str()) {
            return broken(
                &format!("contract {}", self.plugin.contract),
                "this program speaks contract 0.1",
            );
        }
        if self.plugin.description.lines().count() != 1 {
            return broken(&"plugin.description", "it is exactly one line");
        }
        let (mut ids, mut tags) = (BTreeSet::new(), BTreeSet::new());
        for section in &self.sections {
            if !ids.insert(&section.id) {
                return broken(&section.id, "two sections have this id");
            }
            if !tags.insert(&section.tag) {
                return broken(&section.tag, "two sections have this tag");
            }
            if section.max_tokens == 0 {
                return broken(&section.id, "max_tokens is at least 1");
            }
            if (section.placement == Placement::System) != section.cache.is_some() {
                return broken(
                    &section.id,
                    "`cache` goes with placement `system`, and only with it",
                );
            }
            let mut notices = section
                .notices
                .values()
                .flat_map(|n| [&n.replaced, &n.expired]);
            if notices.any(|notice| notice.trim().is_empty() || notice.lines().count() != 1) {
                return broken(&section.id, "a notice is exactly one line");
            }
        }
        let mut mounts = BTreeSet::new();
        for directory in &self.capability.filesystem {
            if !is_guest_path(&directory.mount) {
                return broken(
                    &directory.mount,
                    "a mount is an absolute path without `.` and `..`",
                );
            }
            if !mounts.insert(&directory.mount) {
                return broken(&directory.mount, "two directories have this mount");
            }
            if directory.reason.trim().is_empty() {
                return broken(&directory.mount, "a request says its reason");
            }
        }
        Ok(self)
    }
}

fn is_guest_path(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(|rest| {
        rest.split('/').all(|name| {
            !matches!(name, "" | "." | "..") && !name.contains(|c: char| c.is_control())
        })
    })
}
