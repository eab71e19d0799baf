//! One model call: encoded by the adapter, sent, decoded, and sent again where
//! that helps (PV-7, PV-8).

mod answer;
mod configure;

pub(crate) use answer::{Answer, Incoming};

use sectile_model::{
    Diagnostic, Digest, EncodedRequest, ErrorClass, Intents, ProviderError, ProviderEvent,
    ProviderRequest, Retry,
};
use sectile_sandbox::{Call, CancelToken, DecodeError, Decoder, ProviderPlugin, SandboxError};
use sectile_transport::{Endpoint, Response, RetryPolicy, TransportError, Wire, jitter, wait};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of an error's body that are read.
const MAX_ERROR_BODY: usize = 1 << 20;

/// A provider, ready to be asked.
pub(crate) struct ModelProvider {
    pub(crate) name: String,
    pub(crate) adapter: ProviderPlugin,
    pub(crate) call: Call,
    pub(crate) endpoint: Endpoint,
    pub(crate) intents: Intents,
    pub(crate) retry: RetryPolicy,
    pub(crate) wire: Arc<dyn Wire>,
}

/// An answer and what was sent for it.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) answer: Answer,
    pub(crate) body_digest: Digest,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What is told while a model is asked.
pub(crate) enum Progress<'a> {
    /// The decoder said something.
    Event(&'a ProviderEvent),
    /// The request is sent again.
    Retrying {
        attempt: u32,
        after: Duration,
        why: &'a str,
    },
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    Cancelled,
    /// The provider, or the way to it.
    Provider {
        error: ProviderError,
        /// Whether something of an answer had come.
        is_semantic: bool,
    },
    /// The adapter.
    Sandbox(SandboxError),
}

impl AskError {
    /// Whether less input may help: nothing had been answered yet (SR-24).
    pub(crate) fn is_overflow(&self) -> bool {
        matches!(self, Self::Provider { error, is_semantic: false }
            if error.class == ErrorClass::ContextOverflow || error.retry == Retry::Compact)
    }
}

impl ModelProvider {
    /// Asks, and asks again as the errors say, until something of an answer has come.
    pub(crate) fn ask(
        &self,
        mut request: ProviderRequest,
        cancel: &CancelToken,
        told: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Exchange, AskError> {
        let call = Call {
            cancel: cancel.clone(),
            ..self.call.clone()
        };
        let (mut attempt, mut changed) = (1, false);
        loop {
            let encoded = self.encode(&request, &call)?;
            let failed = match self.once(&encoded, &call, told) {
                Ok(answer) => {
                    return Ok(Exchange {
                        answer,
                        body_digest: Digest::from_bytes(Sha256::digest(&encoded.http.body).into()),
                        diagnostics: encoded.diagnostics,
                    });
                }
                Err(failed) => failed,
            };
            let AskError::Provider {
                error,
                is_semantic: false,
            } = &failed
            else {
                return Err(failed);
            };
            let advised = match error.retry {
                Retry::Never | Retry::Compact => return Err(failed),
                Retry::Same => None,
                Retry::AfterMs(ms) => Some(Duration::from_millis(ms)),
                // One change, at once; if that does not help nothing will.
                Retry::StripState | Retry::LowerOutput if changed => return Err(failed),
                Retry::StripState | Retry::LowerOutput => {
                    changed = true;
                    change(&mut request, error.retry);
                    continue;
                }
            };
            let Some(after) = self.retry.delay(attempt, advised, jitter()) else {
                return Err(failed);
            };
            told(Progress::Retrying {
                attempt,
                after,
                why: &error.message,
            });
            if !wait(after, &|| cancel.is_cancelled()) {
                return Err(AskError::Cancelled);
            }
            attempt += 1;
        }
    }

    /// The request as it would be sent.
    pub(crate) fn encode(
        &self,
        request: &ProviderRequest,
        call: &Call,
    ) -> Result<EncodedRequest, AskError> {
        match self.adapter.encode(request, call).result {
            Ok(Ok(encoded)) => Ok(encoded),
            Ok(Err(error)) => Err(AskError::Provider {
                error,
                is_semantic: false,
            }),
            Err(error) => Err(sandbox(error)),
        }
    }

    fn once(
        &self,
        encoded: &EncodedRequest,
        call: &Call,
        told: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Answer, AskError> {
        let cancelled = || call.cancel.is_cancelled();
        let mut response = self
            .wire
            .send(&self.endpoint, &encoded.http, &cancelled)
            .map_err(|e| transport(e, false))?;
        if response.status() >= 400 {
            return Err(self.refused(response, call));
        }
        let content_type = response.content_type().unwrap_or_default().to_owned();
        let mut decoder = self
            .adapter
            .decoder(&encoded.carry, &content_type, call)
            .map_err(sandbox)?;
        let mut incoming = Incoming::default();
        while !decoder.is_finished() {
            let chunk = response
                .next_chunk(&cancelled)
                .map_err(|e| transport(e, incoming.is_semantic()))?;
            let events = match &chunk {
                Some(bytes) => decoder.push(bytes),
                None => decoder.finish(),
            };
            let events = events.map_err(|e| decoding(e, incoming.is_semantic()))?;
            for event in events {
                told(Progress::Event(&event));
                incoming.take(event);
            }
            if chunk.is_none() {
                break;
            }
        }
        drain(&mut decoder, response, &cancelled);
        let is_semantic = incoming.is_semantic();
        incoming.into_answer().ok_or_else(|| AskError::Provider {
            error: error(ErrorClass::Truncated, "the answer has no end", Retry::Same),
            is_semantic,
        })
    }

    /// What an answer with an error's status means.
    fn refused(&self, mut response: Response, call: &Call) -> AskError {
        let mut body = Vec::new();
        while body.len() < MAX_ERROR_BODY {
            // What of the body cannot be read any more changes little.
            match response.next_chunk(&|| call.cancel.is_cancelled()) {
                Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                Ok(None) | Err(_) => break,
            }
        }
        body.truncate(MAX_ERROR_BODY);
        if call.cancel.is_cancelled() {
            return AskError::Cancelled;
        }
        let classified =
            self.adapter
                .classify_error(response.status(), response.headers(), &body, call);
        match classified.result {
            Ok(error) => AskError::Provider {
                error: ProviderError {
                    message: self.wire.redact(&self.endpoint, &error.message),
                    ..error
                },
                is_semantic: false,
            },
            Err(error) => sandbox(error),
        }
    }
}

/// Reads what follows the end, so that the connection can be used again; what
/// it says means nothing any more (PV-5).
fn drain(decoder: &mut Decoder, mut response: Response, cancelled: &dyn Fn() -> bool) {
    const CHUNKS: usize = 16;
    if !decoder.is_finished() {
        return;
    }
    for _ in 0..CHUNKS {
        if !matches!(response.next_chunk(cancelled), Ok(Some(_))) {
            return;
        }
    }
}

fn change(request: &mut ProviderRequest, how: Retry) {
    match how {
        Retry::StripState => {
            for message in &mut request.request.messages {
                if message.content.iter().any(|block| block.state.is_some()) {
                    let stripped = Arc::make_mut(message);
                    stripped.content.iter_mut().for_each(|b| b.state = None);
                }
            }
        }
        _ => request.request.max_output_tokens = (request.request.max_output_tokens / 2).max(1),
    }
}

fn transport(failed: TransportError, is_semantic: bool) -> AskError {
    if matches!(failed, TransportError::Cancelled) {
        return AskError::Cancelled;
    }
    let retry = match failed.is_retryable() {
        true => Retry::Same,
        false => Retry::Never,
    };
    AskError::Provider {
        error: ProviderError {
            code: Some(failed.code().to_owned()),
            ..error(ErrorClass::Other, &failed.to_string(), retry)
        },
        is_semantic,
    }
}

fn decoding(failed: DecodeError, is_semantic: bool) -> AskError {
    match failed {
        DecodeError::Sandbox(error) => sandbox(error),
        DecodeError::Provider(error) => AskError::Provider { error, is_semantic },
    }
}

fn sandbox(error: SandboxError) -> AskError {
    match error {
        SandboxError::Cancelled => AskError::Cancelled,
        error => AskError::Sandbox(error),
    }
}

fn error(class: ErrorClass, message: &str, retry: Retry) -> ProviderError {
    ProviderError {
        class,
        message: message.to_owned(),
        retry,
        code: None,
        request_id: None,
    }
}
