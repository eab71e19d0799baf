//! One world-state section: what the host knows of it, and what it renders.

use crate::notice::Notices;
use sectile_model::{PluginId, SectionId, SectionSource, Tag};
use std::sync::Arc;

/// The sections whose tags and error codes are fixed (WS-5, WS-11), whether they
/// are enabled or not: section, plugin, tag, code.
const BUILT_IN: [(&str, &str, &str, &str); 4] = [
    (
        "runtime/user-project-context",
        "sectile/project",
        "user_project_context",
        "user_project_context_error",
    ),
    (
        "project/AGENTS.md",
        "sectile/project",
        "project_instructions",
        "project_instruction_error",
    ),
    (
        "skills/catalog",
        "sectile/skills",
        "available_skills",
        "skill_catalog_task_error",
    ),
    (
        "runtime/sandbox-policy",
        "sectile/runtime",
        "sandbox_policy",
        "sandbox_policy_error",
    ),
];

/// What happens when a section cannot be rendered (WS-5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnError {
    /// The turn ends with the section's code.
    #[default]
    Fail,
    /// The section counts as unchanged, and the operator is told.
    Omit,
}

/// Estimated tokens that a section may have at most (WS-14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenCap(u64);

impl TokenCap {
    /// What a third party's manifest asks for, at most 10 000.
    #[must_use]
    pub fn third_party(asked: u32) -> Self {
        Self(u64::from(asked).min(10_000))
    }

    /// What the manifest of a bundled plugin asks for: the rules of its own
    /// sections bound it, and some allow more than third parties get (WS-31).
    #[must_use]
    pub fn bundled(asked: u32) -> Self {
        Self(u64::from(asked))
    }

    /// The number of tokens.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

/// An enabled world-state section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionSpec {
    /// Which section of which plugin; goes with every message it produces.
    pub source: Arc<SectionSource>,
    /// Its marker.
    pub tag: Tag,
    /// What is said when it changes or is gone.
    pub notices: Notices,
    /// How much it may say.
    pub max_tokens: TokenCap,
    /// What happens when it cannot be rendered.
    pub on_error: OnError,
}

impl SectionSpec {
    /// Its identity.
    #[must_use]
    pub fn id(&self) -> &SectionId {
        &self.source.section
    }

    /// The plugin that renders it.
    #[must_use]
    pub fn plugin(&self) -> &PluginId {
        &self.source.plugin
    }

    /// The code with which its failure ends a turn (WS-5).
    #[must_use]
    pub fn error_code(&self) -> String {
        let id = self.id().as_str();
        BUILT_IN
            .iter()
            .find(|(section, ..)| *section == id)
            .map_or_else(
                || format!("section_error:{id}"),
                |(.., code)| (*code).to_owned(),
            )
    }

    pub(crate) fn is_built_in(&self) -> bool {
        let id = self.id().as_str();
        BUILT_IN.iter().any(|(section, ..)| *section == id)
    }

    /// The plugin for whose section this one's tag is reserved, if that is
    /// another section.
    pub(crate) fn tag_reserved_for(&self) -> Option<&'static str> {
        BUILT_IN
            .iter()
            .find(|(section, _, tag, _)| {
                *tag == self.tag.as_str() && *section != self.id().as_str()
            })
            .map(|(_, plugin, ..)| *plugin)
    }
}

/// What a section rendered, before the host wraps it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    /// The text.
    pub text: String,
    /// Names and values of the marker's attributes, in order.
    pub attributes: Vec<(String, String)>,
}
