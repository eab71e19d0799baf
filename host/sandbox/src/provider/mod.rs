//! Calling the adapter of a provider: pure functions, and a decoder that lives
//! as long as the answer it reads.

mod answer;
mod decoder;
mod request;

pub use decoder::{DecodeError, Decoder};

use crate::call::{Call, Outcome};
use crate::contract::ProviderPluginPre;
use crate::error::SandboxError;
use crate::sandbox::Plugin;
use crate::state::CallState;
use sectile_model::{Digest, EncodedRequest, ProviderCapabilities, ProviderError, ProviderRequest};

/// A plugin that speaks a provider's protocol (PV-1).
#[derive(Clone)]
pub struct ProviderPlugin {
    plugin: Plugin,
    pre: ProviderPluginPre<CallState>,
}

impl ProviderPlugin {
    pub(crate) fn new(plugin: Plugin, pre: ProviderPluginPre<CallState>) -> Self {
        Self { plugin, pre }
    }

    /// SHA-256 of the component.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.plugin.digest()
    }

    /// What `model` can do, by the adapter's own knowledge and by `catalogue`,
    /// the provider's description of it as JSON text.
    pub fn capabilities(
        &self,
        model: &str,
        catalogue: Option<&str>,
        call: &Call,
    ) -> Outcome<ProviderCapabilities> {
        let catalogue = catalogue.map(str::to_owned);
        self.plugin.call("provider.capabilities", call, |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            let provider = instance.sectile_plugin_provider();
            let answer = provider.call_capabilities(&mut *store, model, catalogue.as_ref())?;
            Ok(match answer {
                Ok(capabilities) => Ok(answer::capabilities(capabilities)),
                Err(failure) => Err(SandboxError::Plugin(failure.into())),
            })
        })
    }

    /// The HTTP request that carries `request`. The inner error is the
    /// adapter's: the request cannot be said in its protocol.
    pub fn encode(
        &self,
        request: &ProviderRequest,
        call: &Call,
    ) -> Outcome<Result<EncodedRequest, ProviderError>> {
        self.plugin.call("provider.encode", call, |store| {
            let request = match request::lower(request) {
                Ok(request) => request,
                Err(error) => return Ok(Ok(Err(error))),
            };
            let instance = self.pre.instantiate(&mut *store)?;
            let provider = instance.sectile_plugin_provider();
            Ok(Ok(provider
                .call_encode(&mut *store, &request)?
                .map(answer::encoded)
                .map_err(answer::error)))
        })
    }

    /// What an answer with `status` ≥ 400 means (PV-7). Any body will do.
    pub fn classify_error(
        &self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
        call: &Call,
    ) -> Outcome<ProviderError> {
        self.plugin.call("provider.classify-error", call, |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            let provider = instance.sectile_plugin_provider();
            let headers = request::headers(headers);
            let error = provider.call_classify_error(&mut *store, status, &headers, body)?;
            Ok(Ok(answer::error(error)))
        })
    }

    /// A decoder of one answer; `carry` comes from [`ProviderPlugin::encode`].
    /// The call's time is that of each push, not of the whole answer.
    ///
    /// # Errors
    /// [`SandboxError`] when the adapter does not start.
    pub fn decoder(
        &self,
        carry: &str,
        content_type: &str,
        call: &Call,
    ) -> Result<Decoder, SandboxError> {
        Decoder::open(&self.plugin, &self.pre, carry, content_type, call)
    }
}
