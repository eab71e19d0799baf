//! The adapters alone: for looking at what a provider would be sent, and at
//! what it answered (CL-1, CL-2).

use crate::compose::Composition;
use crate::error::SessionError;
use crate::host::Host;
use sectile_engine::for_provider;
use sectile_model::{
    CacheMarks, EncodedRequest, Intents, PluginId, ProviderError, ProviderRequest,
};
use sectile_registry::Provider;
use sectile_sandbox::{Call, Decoder, ProviderPlugin};

/// The publisher of bundled adapters, which may be left out of their names.
const FIRST_PARTY: &str = "sectile/";

/// An adapter, and what the provider's configuration adds to its requests.
pub struct NamedAdapter {
    plugin: ProviderPlugin,
    call: Call,
    intents: Intents,
}

impl Host {
    /// The adapter that `name` stands for: that of a provider, a plugin's id, or
    /// the name of a bundled adapter.
    ///
    /// # Errors
    /// [`SessionError`] when there is none, or it may not run.
    pub fn named_adapter(&self, name: &str) -> Result<NamedAdapter, SessionError> {
        let bundled = format!("{FIRST_PARTY}{name}").parse::<PluginId>();
        let is_plugin = |id: &PluginId| self.plugin(id.as_str()).is_ok();
        let plugin = name.parse().or(bundled).ok().filter(is_plugin);
        let (id, intents) = match (self.operator().provider(Some(name)), plugin) {
            (Ok(provider), _) => (provider.adapter.clone(), intents(&provider)),
            (Err(_), Some(id)) => (id, Intents::default()),
            (Err(error), None) => return Err(error.into()),
        };
        let (plugin, call) = self.adapter(&id)?;
        Ok(NamedAdapter {
            plugin,
            call,
            intents,
        })
    }

    /// The HTTP request that `composition` would be sent to `provider` with.
    ///
    /// # Errors
    /// As for [`Host::named_adapter`], and [`SessionError::Provider`].
    pub fn encode(
        &self,
        composition: &Composition,
        provider: &str,
        model: Option<&str>,
    ) -> Result<EncodedRequest, SessionError> {
        let configured = self.operator().provider(Some(provider))?;
        let adapter = self.named_adapter(provider)?;
        let mut request = composition.call.request.clone();
        if let Some(model) = model.or(configured.entry.model.as_deref()) {
            request.model = model.to_owned();
        }
        let intents = Intents::default();
        adapter.encode(settled(request, intents))
    }
}

/// The request as any protocol can take it, with the boundaries of prompt caches
/// marked (PV-3, PV-10).
pub(crate) fn settled(request: sectile_model::ModelRequest, intents: Intents) -> ProviderRequest {
    let request = for_provider(request);
    let newest = sectile_engine::newest_turn(&request.messages);
    ProviderRequest {
        cache: CacheMarks {
            system: !request.system.is_empty(),
            tools: !request.tools.is_empty(),
            message: newest.checked_sub(1),
        },
        request,
        intents,
    }
}

/// What the operator's configuration asks of every request.
pub(crate) fn intents(provider: &Provider) -> Intents {
    let mut intents = provider.entry.intents.clone();
    intents.streaming = provider.entry.streaming.unwrap_or(true);
    intents.extra.clone_from(&provider.entry.extra);
    intents
}

impl NamedAdapter {
    /// The HTTP request that carries `request`; what it leaves open is the
    /// provider's configuration's.
    ///
    /// # Errors
    /// [`SessionError::Provider`] when the protocol cannot say it, and those of
    /// the sandbox.
    pub fn encode(&self, mut request: ProviderRequest) -> Result<EncodedRequest, SessionError> {
        for (key, value) in &self.intents.extra {
            let extra = &mut request.intents.extra;
            if !extra.contains_key(key) {
                extra.insert(key.clone(), value.clone());
            }
        }
        Ok(self.plugin.encode(&request, &self.call).result??)
    }

    /// What an answer with an error's status means.
    ///
    /// # Errors
    /// Those of the sandbox.
    pub fn classify(
        &self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<ProviderError, SessionError> {
        let outcome = self
            .plugin
            .classify_error(status, headers, body, &self.call);
        Ok(outcome.result?)
    }

    /// A decoder of one answer.
    ///
    /// # Errors
    /// Those of the sandbox.
    pub fn decoder(&self, content_type: &str) -> Result<Decoder, SessionError> {
        Ok(self.plugin.decoder("{}", content_type, &self.call)?)
    }
}
