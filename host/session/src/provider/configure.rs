//! From what the operator says of a provider to one that can be asked.

use crate::adapter::intents;
use crate::error::SessionError;
use crate::host::Host;
use crate::provider::ModelProvider;
use sectile_model::ModelCapabilities;
use sectile_registry::{Provider, ProviderEntry, SecretPlace};
use sectile_transport::{Endpoint, RetryPolicy, SecretSource, Timeouts, Wire};
use std::sync::Arc;
use std::time::Duration;

impl ModelProvider {
    /// The provider with its adapter loaded, and the model as its adapter and
    /// the operator describe it.
    pub(crate) fn new(
        host: &Host,
        provider: &Provider,
        model: Option<&str>,
        wire: Arc<dyn Wire>,
    ) -> Result<(Self, ModelCapabilities), SessionError> {
        let entry = &provider.entry;
        let model = model
            .or(entry.model.as_deref())
            .ok_or_else(|| SessionError::NoModel {
                provider: provider.name.clone(),
            })?;
        let (adapter, call) = host.adapter(&provider.adapter)?;
        let known = adapter.capabilities(model, None, &call).result?;
        let model = ModelCapabilities {
            name: model.to_owned(),
            context_window: entry.context_window.unwrap_or(known.context_window),
            max_output_tokens: entry.max_output_tokens.unwrap_or(known.max_output_tokens),
            max_reasoning_tokens: known.max_reasoning_tokens,
            accepts_data: entry.accepts_data.unwrap_or(!known.accepts_data.is_empty()),
        };
        let default = RetryPolicy::default();
        let asked = Self {
            name: provider.name.clone(),
            adapter,
            call,
            endpoint: endpoint(&provider.base_url, entry),
            intents: intents(provider),
            retry: RetryPolicy {
                max_attempts: entry.max_attempts.unwrap_or(default.max_attempts),
                ..default
            },
            wire,
        };
        Ok((asked, model))
    }
}

fn endpoint(base_url: &str, entry: &ProviderEntry) -> Endpoint {
    let seconds = |given: Option<u64>, default| given.map_or(default, Duration::from_secs);
    let default = Timeouts::default();
    let secret = |place: &SecretPlace| match place {
        SecretPlace::Env(name) => SecretSource::Environment(name.clone()),
        SecretPlace::File(path) => SecretSource::File(path.clone()),
        SecretPlace::Keyring { service, user } => SecretSource::Keyring {
            service: service.clone(),
            user: user.clone(),
        },
    };
    let secrets = entry.secrets.iter();
    Endpoint {
        base_url: base_url.to_owned(),
        allow_plain_http: entry.allow_plain_http.unwrap_or(false),
        headers: entry.headers.clone().into_iter().collect(),
        secrets: secrets
            .map(|(name, place)| (name.clone(), secret(place)))
            .collect(),
        timeouts: Timeouts {
            connect: seconds(entry.connect_timeout, default.connect),
            idle: seconds(entry.idle_timeout, default.idle),
            total: seconds(entry.total_timeout, default.total),
        },
        ..Endpoint::default()
    }
}
