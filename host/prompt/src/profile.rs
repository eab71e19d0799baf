//! Profiles as data: which sections and plugins, in which order, under which rules.

use crate::notice::Locale;
use sectile_engine::{CompactRule, Displaced};
use sectile_model::{ModelCapabilities, PluginId, SectionId, SystemPart};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The profiles that are part of the program.
const PROFILES: [(&str, &str); 2] = [
    ("default", include_str!("../profiles/default.toml")),
    ("openwork", include_str!("../profiles/openwork.toml")),
];

/// The texts that they name.
const TEXTS: [(&str, &str); 1] = [(
    "default.system.md",
    include_str!("../profiles/default.system.md"),
)];

/// How a context window is composed.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// Language of fixed texts (WS-10).
    pub locale: Locale,
    /// The agent's system prompt, without white space at its ends.
    pub system_prompt: String,
    /// When to compact (CE-16).
    pub compact_rule: CompactRule,
    /// What becomes of displaced tool results (CE-9).
    pub displaced: Displaced,
    /// Bundled plugins that are enabled.
    pub plugins: Vec<PluginId>,
    /// World-state sections in the order in which they are sent (WS-1).
    pub sections: Vec<SectionId>,
    /// Roots of skills in their order; `~/` stands for the user's home (WS-40).
    pub skill_roots: Vec<String>,
    /// Configuration of the plugins, before the operator's.
    pub config: BTreeMap<PluginId, Map<String, Value>>,
    /// The model that is assumed while none is configured.
    pub model: ModelCapabilities,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    description: String,
    locale: Locale,
    system_prompt: String,
    compact_rule: CompactRule,
    displaced: Displaced,
    plugins: Vec<PluginId>,
    sections: Vec<SectionId>,
    skill_roots: Vec<String>,
    #[serde(default)]
    config: BTreeMap<PluginId, Map<String, Value>>,
    model: ModelCapabilities,
}

/// A profile that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No profile has this name.
    #[error("there is no profile `{name}`; use one of {known}")]
    Unknown {
        /// The name, control characters escaped, shortened.
        name: String,
        /// The names there are.
        known: String,
    },
    /// It does not parse; the text has line and column.
    #[error("the profile is not valid: {0}")]
    Syntax(String),
    /// It parses and contradicts itself.
    #[error("the profile `{profile}` is not valid: {why}")]
    Rule {
        /// Its name.
        profile: String,
        /// What is wrong.
        why: String,
    },
}

impl ProfileError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_profile",
            Self::Syntax(_) | Self::Rule { .. } => "invalid_profile",
        }
    }
}

impl Profile {
    /// The key of the agent's system part (CE-6).
    pub const AGENT_SYSTEM_KEY: &str = "core/agent-system";

    /// The profile of the program that is called `name`.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`].
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        let Some((_, toml)) = PROFILES.iter().find(|(known, _)| *known == name) else {
            return Err(ProfileError::Unknown {
                name: name.escape_debug().take(64).collect(),
                known: Self::names().collect::<Vec<_>>().join(", "),
            });
        };
        Self::parse(toml, |wanted| {
            let text = TEXTS.iter().find(|(file, _)| *file == wanted);
            text.map(|(_, text)| (*text).to_owned())
        })
    }

    /// The names of the profiles of the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|(name, _)| *name)
    }

    /// Reads a profile; `text` gives the content of the files that it names.
    ///
    /// # Errors
    /// [`ProfileError::Syntax`], also for an unknown key, and
    /// [`ProfileError::Rule`].
    pub fn parse(toml: &str, text: impl Fn(&str) -> Option<String>) -> Result<Self, ProfileError> {
        let file: File = toml::from_str(toml).map_err(|e| ProfileError::Syntax(e.to_string()))?;
        let system_prompt = text(&file.system_prompt).unwrap_or_default();
        if let Some(why) = broken_rule(&file, &system_prompt) {
            return Err(ProfileError::Rule {
                profile: file.name.escape_debug().take(64).collect(),
                why,
            });
        }
        Ok(Self {
            name: file.name,
            description: file.description,
            locale: file.locale,
            system_prompt: system_prompt.trim().to_owned(),
            compact_rule: file.compact_rule,
            displaced: file.displaced,
            plugins: file.plugins,
            sections: file.sections,
            skill_roots: file.skill_roots,
            config: file.config,
            model: file.model,
        })
    }

    /// The system context: the agent's system prompt and nothing else (CE-6).
    #[must_use]
    pub fn system_part(&self) -> SystemPart {
        SystemPart {
            key: Self::AGENT_SYSTEM_KEY.to_owned(),
            content: self.system_prompt.clone(),
            source: None,
        }
    }
}

fn broken_rule(file: &File, system_prompt: &str) -> Option<String> {
    if system_prompt.trim().is_empty() {
        let name = file.system_prompt.escape_debug();
        return Some(format!("system_prompt: `{name}` is missing or blank"));
    }
    if let Some(id) = repeated(&file.sections) {
        return Some(format!("sections: `{id}` is named twice"));
    }
    if let Some(id) = repeated(&file.plugins) {
        return Some(format!("plugins: `{id}` is named twice"));
    }
    let mut configured = file.config.keys();
    let unused = configured.find(|plugin| !file.plugins.contains(plugin))?;
    Some(format!(
        "config: `{unused}` is configured and not in `plugins`"
    ))
}

fn repeated<T: Ord>(names: &[T]) -> Option<&T> {
    let mut seen = BTreeSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_engine::{MAX_SYSTEM_PART_TOKENS, estimate_tokens};
    use serde_json::json;

    #[test]
    fn ws_1_every_profile_keeps_the_fixed_order_and_its_plugins() {
        for name in Profile::names() {
            let profile = Profile::named(name).unwrap();
            assert_eq!(profile.name, name);
            let order: Vec<_> = profile.sections.iter().map(SectionId::as_str).collect();
            assert_eq!(
                order[..4],
                [
                    "runtime/user-project-context",
                    "project/AGENTS.md",
                    "skills/catalog",
                    "runtime/sandbox-policy"
                ]
            );
            let plugins: Vec<_> = profile.plugins.iter().map(PluginId::as_str).collect();
            assert_eq!(
                plugins,
                ["sectile/project", "sectile/skills", "sectile/runtime"]
            );
            assert_eq!(profile.skill_roots, ["~/.agents/skills"]);
        }
    }

    #[test]
    fn ce_16_without_a_model_the_limits_are_those_of_the_example() {
        for name in Profile::names() {
            let model = Profile::named(name).unwrap().model;
            let numbers = (
                model.context_window,
                model.max_output_tokens,
                model.max_reasoning_tokens,
            );
            assert_eq!(
                (model.name.as_str(), numbers),
                ("default", (200_000, 32_000, 0))
            );
        }
    }

    #[test]
    fn openwork_is_strict_and_default_is_lenient_where_real_files_need_it() {
        let of = |name: &str| {
            let profile = Profile::named(name).unwrap();
            let option = |plugin: &str, key: &str| {
                profile
                    .config
                    .get(&plugin.parse().unwrap())
                    .unwrap()
                    .get(key)
                    .cloned()
            };
            (
                profile.compact_rule,
                profile.displaced,
                profile.locale.to_string(),
                option("sectile/project", "follow_symlink").unwrap(),
                option("sectile/project", "scope").unwrap(),
                option("sectile/skills", "strict").unwrap(),
            )
        };
        let workspace = json!("workspace");
        assert_eq!(
            of("default"),
            (
                CompactRule::Once,
                Displaced::Hoist,
                "en".into(),
                json!("inside-workspace"),
                workspace.clone(),
                json!(false)
            )
        );
        assert_eq!(
            of("openwork"),
            (
                CompactRule::Seed,
                Displaced::Drop,
                "zh-CN".into(),
                json!("never"),
                workspace,
                json!(true)
            )
        );
    }

    #[test]
    fn ce_6_the_system_context_is_one_part_that_the_engine_accepts() {
        for name in Profile::names() {
            let part = Profile::named(name).unwrap().system_part();
            assert_eq!(part.key, "core/agent-system");
            assert_eq!(part.content, part.content.trim());
            assert!(estimate_tokens(&part.content) < MAX_SYSTEM_PART_TOKENS / 10);
        }
    }

    #[test]
    fn an_unknown_profile_is_refused_with_the_names_there_are() {
        let error = Profile::named("a\u{1b}").unwrap_err();
        assert_eq!(error.code(), "unknown_profile");
        let text = error.to_string();
        assert!(
            text.contains("default, openwork") && !text.contains('\u{1b}'),
            "{text}"
        );
    }

    #[test]
    fn a_profile_that_breaks_a_rule_is_refused() {
        let good = PROFILES[0].1;
        let parse = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}");
            Profile::parse(&good.replacen(from, to, 1), |file| {
                (file == "default.system.md").then(|| "Be brief.".to_owned())
            })
        };
        assert!(parse("name", "name").is_ok());
        for (from, to, said) in [
            ("name =", "nmae =", "nmae"),
            ("[model]", "[model]\nwindow = 1", "window"),
            ("\"en\"", "\"en_US\"", "en_US"),
            ("\"once\"", "\"twice\"", "twice"),
            (
                "default.system.md",
                "other.md",
                "`other.md` is missing or blank",
            ),
            (
                "\"skills/catalog\"",
                "\"project/AGENTS.md\"",
                "`project/AGENTS.md` is named twice",
            ),
            ("\"skills/catalog\"", "\"catalog\"", "catalog"),
            (
                "\"sectile/runtime\"]",
                "\"sectile/skills\"]",
                "`sectile/skills` is named twice",
            ),
            (
                "[config.\"sectile/skills\"]",
                "[config.\"acme/x\"]",
                "`acme/x` is configured",
            ),
        ] {
            let error = parse(from, to).unwrap_err();
            assert_eq!(error.code(), "invalid_profile", "{to}");
            assert!(error.to_string().contains(said), "{to}: {error}");
        }
    }
}
