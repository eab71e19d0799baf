//! Decoding one answer, piece by piece, in one store.

use super::answer;
use crate::call::{Call, CallReport};
use crate::contract::{ProviderInstance, ProviderPluginPre};
use crate::error::SandboxError;
use crate::run::{self, Session};
use crate::sandbox::Plugin;
use crate::state::CallState;
use sectile_model::{ErrorClass, ProviderError, ProviderEvent, Retry};
use wasmtime::component::ResourceAny;

/// Events that one answer may consist of; the longest real ones have some ten thousand.
const MAX_EVENTS: usize = 4_000_000;

/// Reads one answer. The adapter keeps what it has seen in a store of its own,
/// which nothing else shares (PL-21).
pub struct Decoder {
    session: Session,
    instance: ProviderInstance,
    handle: ResourceAny,
    state: State,
    events: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Finished,
    Failed,
}

/// Why an answer cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The adapter failed or hit a ceiling.
    #[error("the provider's adapter failed: {0}")]
    Sandbox(#[from] SandboxError),
    /// The provider said so, or what it said is no answer.
    #[error(transparent)]
    Provider(#[from] ProviderError),
}

impl Decoder {
    pub(super) fn open(
        plugin: &Plugin,
        pre: &ProviderPluginPre<CallState>,
        carry: &str,
        content_type: &str,
        call: &Call,
    ) -> Result<Self, SandboxError> {
        let carry = carry.to_owned();
        let mut session = Session::open(plugin, call);
        let (instance, handle) = session.enter("provider.decoder", |store| {
            let instance = pre.instantiate(&mut *store)?;
            let decoder = instance.sectile_plugin_provider().decoder();
            let handle = decoder.call_constructor(&mut *store, &carry, content_type)?;
            Ok((instance, handle))
        })?;
        Ok(Self {
            session,
            instance,
            handle,
            state: State::Open,
            events: 0,
        })
    }

    /// Reads the next bytes of the answer, split anywhere.
    ///
    /// # Errors
    /// [`DecodeError`]; after one, and after `finished`, there are no more events.
    pub fn push(&mut self, chunk: &[u8]) -> Result<Vec<ProviderEvent>, DecodeError> {
        if self.state != State::Open {
            return Ok(Vec::new());
        }
        let (instance, handle) = (&self.instance, self.handle);
        let answer = self.session.enter("provider.decoder.push", |store| {
            let decoder = instance.sectile_plugin_provider().decoder();
            decoder.call_push(store, handle, chunk)
        });
        self.accept(answer)
    }

    /// The answer has ended.
    ///
    /// # Errors
    /// [`DecodeError`], of class `truncated` when no `finished` came.
    pub fn finish(&mut self) -> Result<Vec<ProviderEvent>, DecodeError> {
        if self.state != State::Open {
            return Ok(Vec::new());
        }
        let (instance, handle) = (&self.instance, self.handle);
        let answer = self.session.enter("provider.decoder.finish", |store| {
            let decoder = instance.sectile_plugin_provider().decoder();
            decoder.call_finish(store, handle)
        });
        let events = self.accept(answer)?;
        if self.state == State::Open {
            self.state = State::Failed;
            return Err(truncated().into());
        }
        Ok(events)
    }

    /// Whether the answer came to its end.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.state == State::Finished
    }

    /// What the adapter said and used.
    #[must_use]
    pub fn report(self) -> CallReport {
        run::report(self.session.into_state())
    }

    /// Events of the model, held to the rule of one end (PV-5).
    fn accept(
        &mut self,
        answer: Result<Result<Vec<answer::Event>, answer::Error>, SandboxError>,
    ) -> Result<Vec<ProviderEvent>, DecodeError> {
        let raised = answer
            .map_err(DecodeError::from)
            .and_then(|events| Ok(answer::events(events.map_err(answer::error)?)?));
        let mut events = raised.inspect_err(|_| self.state = State::Failed)?;
        self.events += events.len();
        if self.events > MAX_EVENTS {
            self.state = State::Failed;
            return Err(protocol(format!("the answer has more than {MAX_EVENTS} events")).into());
        }
        let end = events
            .iter()
            .position(|event| matches!(event, ProviderEvent::Finished(_)));
        if let Some(end) = end {
            events.truncate(end + 1);
            self.state = State::Finished;
        }
        Ok(events)
    }
}

fn truncated() -> ProviderError {
    ProviderError {
        class: ErrorClass::Truncated,
        message: "the answer broke off before its end".to_owned(),
        retry: Retry::Same,
        code: None,
        request_id: None,
    }
}

fn protocol(message: String) -> ProviderError {
    ProviderError {
        class: ErrorClass::Protocol,
        message,
        retry: Retry::Never,
        code: None,
        request_id: None,
    }
}
