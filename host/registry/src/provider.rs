//! Providers of models: the known ones, and what the operator says of them.

use crate::error::RegistryError;
use crate::operator::Operator;
use sectile_model::{Intents, PluginId};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

const KNOWN: &str = include_str!("providers.toml");

/// What the operator says of a provider; what is absent comes from the known
/// provider of the same name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderEntry {
    /// The plugin that speaks its protocol.
    pub adapter: Option<PluginId>,
    /// Where it is; an adapter's paths are relative to it.
    pub base_url: Option<String>,
    /// Allows plain HTTP to another machine.
    pub allow_plain_http: Option<bool>,
    /// Headers besides the adapter's.
    pub headers: BTreeMap<String, String>,
    /// Where its secrets are, by the name that the adapter uses.
    pub secrets: BTreeMap<String, SecretPlace>,
    /// The model.
    pub model: Option<String>,
    /// Tokens of input and output together, when the adapter does not know.
    pub context_window: Option<u64>,
    /// Tokens that the model may answer with.
    pub max_output_tokens: Option<u64>,
    /// Whether the model takes images and other data.
    pub accepts_data: Option<bool>,
    /// Whether answers come in pieces; they do unless it says no.
    pub streaming: Option<bool>,
    /// Sampling, thinking and the like.
    pub intents: Intents,
    /// For the adapter: `dialect`, `version`, and additions to the body.
    pub extra: Map<String, Value>,
    /// Seconds that a connection may take.
    pub connect_timeout: Option<u64>,
    /// Seconds between two pieces of an answer.
    pub idle_timeout: Option<u64>,
    /// Seconds of a whole answer.
    pub total_timeout: Option<u64>,
    /// Times that a request is sent at the most.
    pub max_attempts: Option<u32>,
}

/// Where a secret is (PL-17): never in a workspace, never in a file of ours.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SecretPlace {
    /// In an environment variable.
    Env(String),
    /// In a file, white space at its ends left out.
    File(PathBuf),
    /// In the user's keyring.
    Keyring {
        /// Name of the service.
        service: String,
        /// Name of the user.
        user: String,
    },
}

/// A provider as it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Provider {
    /// Its name.
    pub name: String,
    /// The plugin that speaks its protocol.
    pub adapter: PluginId,
    /// Where it is.
    pub base_url: String,
    /// Everything else.
    pub entry: ProviderEntry,
}

impl Operator {
    /// The provider called `name`; without one the operator's choice, or the
    /// only one that is configured.
    ///
    /// # Errors
    /// [`RegistryError::NoProvider`], [`RegistryError::UnknownProvider`] and
    /// [`RegistryError::IncompleteProvider`].
    pub fn provider(&self, name: Option<&str>) -> Result<Provider, RegistryError> {
        let only = || match self.providers.len() {
            1 => self.providers.keys().next().map(String::as_str),
            _ => None,
        };
        let name = name
            .or(self.provider.as_deref())
            .or_else(only)
            .ok_or_else(|| RegistryError::NoProvider {
                known: self.provider_names().join(", "),
            })?;
        let known = known()?;
        let entry = match (known.get(name), self.providers.get(name)) {
            (None, None) => {
                return Err(RegistryError::UnknownProvider {
                    name: sectile_sandbox::one_line(name),
                    known: self.provider_names().join(", "),
                });
            }
            (Some(known), None) => known.clone(),
            (None, Some(own)) => own.clone(),
            (Some(known), Some(own)) => merged(known, own),
        };
        let missing = |field| RegistryError::IncompleteProvider {
            name: name.to_owned(),
            field,
        };
        Ok(Provider {
            name: name.to_owned(),
            adapter: entry.adapter.clone().ok_or_else(|| missing("adapter"))?,
            base_url: entry.base_url.clone().ok_or_else(|| missing("base_url"))?,
            entry,
        })
    }

    /// The names of all providers, in order.
    #[must_use]
    pub fn provider_names(&self) -> Vec<String> {
        let known = known().unwrap_or_default();
        let mut names: Vec<_> = known
            .into_keys()
            .chain(self.providers.keys().cloned())
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

fn known() -> Result<BTreeMap<String, ProviderEntry>, RegistryError> {
    toml::from_str(KNOWN).map_err(|e| RegistryError::Invalid {
        path: "providers.toml".into(),
        why: e.to_string(),
    })
}

/// `own` over `known`. A provider that was moved elsewhere loses the known
/// one's secrets: a key goes only where its owner said (X4).
fn merged(known: &ProviderEntry, own: &ProviderEntry) -> ProviderEntry {
    let moved = own.base_url.is_some() && own.base_url != known.base_url;
    let mut all = own.clone();
    all.adapter = own.adapter.clone().or_else(|| known.adapter.clone());
    all.base_url = own.base_url.clone().or_else(|| known.base_url.clone());
    if !moved {
        for (name, place) in &known.secrets {
            all.secrets
                .entry(name.clone())
                .or_insert_with(|| place.clone());
        }
    }
    for (key, value) in &known.extra {
        if !all.extra.contains_key(key) {
            all.extra.insert(key.clone(), value.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(text: &str) -> Operator {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn every_known_provider_is_complete() {
        let operator = Operator::default();
        for name in operator.provider_names() {
            let provider = operator.provider(Some(&name)).unwrap();
            assert!(provider.base_url.starts_with("http"), "{name}");
            assert_eq!(
                provider.base_url.starts_with("https"),
                !provider.entry.secrets.is_empty(),
                "{name}"
            );
        }
    }

    #[test]
    fn without_a_name_it_is_the_chosen_one_or_the_only_one() {
        let name = |text: &str| operator(text).provider(None).map(|p| p.name);
        assert_eq!(name("provider = 'ollama'").unwrap(), "ollama");
        assert_eq!(name("[providers.mistral]\nmodel = 'm'").unwrap(), "mistral");
        assert_eq!(name("").unwrap_err().code(), "no_provider");
        assert_eq!(
            name("[providers.mistral]\n[providers.qwen]")
                .unwrap_err()
                .code(),
            "no_provider"
        );
        assert_eq!(
            name("provider = 'x'").unwrap_err().code(),
            "unknown_provider"
        );
        assert_eq!(
            name("[providers.x]\nadapter = 'a/b'").unwrap_err().code(),
            "incomplete_provider"
        );
    }

    #[test]
    fn x4_a_known_key_stays_with_the_known_address() {
        let text = "[providers.anthropic]\nbase_url = 'http://127.0.0.1:1'";
        let moved = operator(text).provider(None).unwrap();
        assert!(moved.entry.secrets.is_empty());
        let kept = operator("[providers.openai]\nextra.user = 'u'")
            .provider(None)
            .unwrap();
        assert_eq!(
            kept.entry.secrets.get("api-key"),
            Some(&SecretPlace::Env("OPENAI_API_KEY".to_owned()))
        );
        assert_eq!(kept.entry.extra.len(), 2);
    }
}
