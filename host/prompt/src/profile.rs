//! Profiles as data: which sections, in which order, under which rules.

use crate::notice::Locale;
use sectile_engine::{CompactRule, Displaced};
use sectile_model::{ModelCapabilities, PluginId, SectionId};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The profiles that are part of the program.
const PROFILES: [(&str, &str, &str); 2] = [
    (
        "default",
        include_str!("../profiles/default.toml"),
        include_str!("../profiles/default.system.md"),
    ),
    (
        "openwork",
        include_str!("../profiles/openwork.toml"),
        include_str!("../profiles/openwork.system.md"),
    ),
];

/// How a context window is composed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// Language of fixed texts.
    #[serde(default)]
    pub locale: Locale,
    /// When to compact (CE-16).
    pub compact_rule: CompactRule,
    /// What becomes of displaced results (CE-9).
    pub displaced: Displaced,
    /// World-state sections, in the order in which they are sent (WS-1).
    pub sections: Vec<SectionId>,
    /// Roots of skills; `~/` is the user's home (WS-40).
    pub skill_roots: Vec<String>,
    /// Configuration of its plugins, before the operator's.
    #[serde(default)]
    pub config: BTreeMap<PluginId, toml::Table>,
    /// The model that is assumed while none is configured.
    pub model: ModelCapabilities,
    /// The agent's system prompt (CE-6).
    #[serde(skip)]
    pub system_prompt: String,
}

/// A profile that there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No profile has this name.
    #[error("there is no profile `{name}`; use one of {known}")]
    Unknown {
        /// The name, escaped.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A profile of the program does not parse.
    #[error("the profile is not valid: {0}")]
    Invalid(String),
}

impl Profile {
    /// The profile called `name`.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`].
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        let Some((_, text, system_prompt)) = PROFILES.iter().find(|(known, ..)| *known == name)
        else {
            return Err(ProfileError::Unknown {
                name: name.escape_debug().to_string(),
                known: Self::names().collect::<Vec<_>>().join(", "),
            });
        };
        let mut profile: Self =
            toml::from_str(text).map_err(|e| ProfileError::Invalid(e.to_string()))?;
        system_prompt.trim().clone_into(&mut profile.system_prompt);
        Ok(profile)
    }

    /// The names of all profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|(name, ..)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ws_1_every_profile_parses_and_keeps_the_fixed_order() {
        for name in Profile::names() {
            let profile = Profile::named(name).unwrap();
            assert_eq!(profile.name, name);
            assert!(!profile.system_prompt.is_empty());
            let order: Vec<_> = profile.sections.iter().map(SectionId::as_str).collect();
            assert_eq!(
                order,
                [
                    "runtime/user-project-context",
                    "project/AGENTS.md",
                    "skills/catalog",
                    "runtime/sandbox-policy"
                ]
            );
        }
    }

    #[test]
    fn ce_16_the_default_profile_counts_the_output_once_and_openwork_as_its_source() {
        assert_eq!(
            Profile::named("default").unwrap().compact_rule,
            CompactRule::Once
        );
        assert_eq!(
            Profile::named("openwork").unwrap().compact_rule,
            CompactRule::Seed
        );
        let error = Profile::named("a\u{1b}").unwrap_err().to_string();
        assert!(error.contains("default, openwork") && !error.contains('\u{1b}'));
    }
}
