//! Adapters of providers: pure codecs between the neutral request and one wire
//! protocol (PV-1 to PV-10).
//!
//! An adapter is a type with [`Provider`] on it, exported from a `cdylib` crate
//! that is built for `wasm32-wasip2`. What it does is plain data in and out, so
//! its rules are tested with `cargo test`:
//!
//! ```
//! use sectile_sdk::Failure;
//! use sectile_sdk::provider::{
//!     Decoder, Encoded, ErrorClass, Event, Header, HttpRequest, ModelCapabilities, Provider,
//!     ProviderError, Request, Retry,
//! };
//!
//! struct Echo;
//! struct EchoDecoder;
//!
//! # fn error(class: ErrorClass) -> ProviderError {
//! #     ProviderError { class, message: "no".to_owned(), retry: Retry::Never, code: None, request_id: None }
//! # }
//! impl Provider for Echo {
//!     type Decoder = EchoDecoder;
//!
//!     fn capabilities(model: &str, _catalogue: Option<&str>) -> Result<ModelCapabilities, Failure> {
//!         Err(Failure::InvalidInput(format!("nothing is known of `{model}`")))
//!     }
//!
//!     fn encode(request: Request) -> Result<Encoded, ProviderError> {
//!         let authorization = Header {
//!             name: "authorization".to_owned(),
//!             value: "Bearer {secret:api-key}".to_owned(),
//!         };
//!         let request = HttpRequest {
//!             method: "POST".to_owned(),
//!             path: "/echo".to_owned(),
//!             query: Vec::new(),
//!             headers: vec![authorization],
//!             body: request.model.into_bytes(),
//!         };
//!         Ok(Encoded { request, diagnostics: Vec::new(), carry: "{}".to_owned() })
//!     }
//!
//!     fn classify_error(_status: u16, _headers: &[Header], _body: &[u8]) -> ProviderError {
//!         error(ErrorClass::Other)
//!     }
//! }
//!
//! impl Decoder for EchoDecoder {
//!     fn new(_carry: &str, _content_type: &str) -> Self {
//!         Self
//!     }
//!
//!     fn push(&mut self, _chunk: &[u8]) -> Result<Vec<Event>, ProviderError> {
//!         Ok(Vec::new())
//!     }
//!
//!     fn finish(&mut self) -> Result<Vec<Event>, ProviderError> {
//!         Err(error(ErrorClass::Truncated))
//!     }
//! }
//!
//! sectile_sdk::export_provider!(Echo);
//! # fn main() {}
//! ```

pub use crate::bindings::sectile::plugin::types::{
    DataBlock, DataSource, DataSourceInline, DataSourceUrl, Failure,
};
pub use crate::provider_bindings::exports::sectile::plugin::provider::{
    Block, BlockKind, CallInput, Diagnostic, DiagnosticAction, Encoded, ErrorClass, Event,
    FinishReason, Finished, Header, HttpRequest, Message, ModelCapabilities, OpaqueBlock,
    ProviderError, ProviderState, Request, ResultContent, ResultStatus, Retry, Role, SystemPart,
    Thinking, ThinkingBlock, ToolCallBlock, ToolChoice, ToolDefinition, ToolResultBlock, Usage,
};

use crate::provider_bindings::exports::sectile::plugin::provider as contract;
use std::cell::RefCell;

/// A plugin that speaks the protocol of a provider. It is pure: it has no
/// network, no clock, no randomness and no secrets.
pub trait Provider {
    /// Reads one answer.
    type Decoder: Decoder + 'static;

    /// What `model` can do, by the adapter's own knowledge and by `catalogue`,
    /// the provider's description of it as JSON text.
    ///
    /// # Errors
    /// A [`Failure`] whose text says what is wrong and what to do.
    fn capabilities(model: &str, catalogue: Option<&str>) -> Result<ModelCapabilities, Failure>;

    /// The HTTP request that carries `request`.
    ///
    /// # Errors
    /// Of class [`ErrorClass::InvalidRequest`], when the protocol has no form for it.
    fn encode(request: Request) -> Result<Encoded, ProviderError>;

    /// What an answer with a status of 400 and more means; any body, none included.
    fn classify_error(status: u16, headers: &[Header], body: &[u8]) -> ProviderError;
}

/// Reads one answer, in pieces that are split anywhere.
pub trait Decoder {
    /// `carry` is what [`Provider::encode`] gave; `content_type` is of the answer.
    fn new(carry: &str, content_type: &str) -> Self;

    /// The events that `chunk` completes. They must not depend on how the
    /// answer was split: an error that follows events waits for the next call.
    ///
    /// # Errors
    /// What the provider said, or why what it said is no answer.
    fn push(&mut self, chunk: &[u8]) -> Result<Vec<Event>, ProviderError>;

    /// The answer has ended.
    ///
    /// # Errors
    /// Of class [`ErrorClass::Truncated`], when it did not come to its end.
    fn finish(&mut self) -> Result<Vec<Event>, ProviderError>;
}

/// The decoder as the contract wants it, by shared reference.
#[doc(hidden)]
pub struct ExportedDecoder<D>(RefCell<D>);

impl<D: Decoder + 'static> contract::GuestDecoder for ExportedDecoder<D> {
    fn new(carry: String, content_type: String) -> Self {
        Self(RefCell::new(D::new(&carry, &content_type)))
    }

    fn push(&self, chunk: Vec<u8>) -> Result<Vec<Event>, ProviderError> {
        self.0.borrow_mut().push(&chunk)
    }

    fn finish(&self) -> Result<Vec<Event>, ProviderError> {
        self.0.borrow_mut().finish()
    }
}

/// The adapter as the contract wants it.
#[doc(hidden)]
pub struct Exported<P>(std::marker::PhantomData<P>);

impl<P: Provider> contract::Guest for Exported<P> {
    type Decoder = ExportedDecoder<P::Decoder>;

    fn capabilities(
        model: String,
        catalogue: Option<String>,
    ) -> Result<ModelCapabilities, Failure> {
        P::capabilities(&model, catalogue.as_deref())
    }

    fn encode(request: Request) -> Result<Encoded, ProviderError> {
        P::encode(request)
    }

    fn classify_error(status: u16, headers: Vec<Header>, body: Vec<u8>) -> ProviderError {
        P::classify_error(status, &headers, &body)
    }
}

/// Exports a type with [`Provider`] as the provider of this component.
///
/// Outside WebAssembly nothing is exported: linkers there refuse the
/// contract's symbol names.
#[macro_export]
macro_rules! export_provider {
    ($provider:ty) => {
        const _: () = {
            #[cfg(not(target_family = "wasm"))]
            const _: ::std::marker::PhantomData<$crate::provider::Exported<$provider>> =
                $crate::provider::exported::<$provider>();

            #[cfg(target_family = "wasm")]
            type Exported = $crate::provider::Exported<$provider>;
            #[cfg(target_family = "wasm")]
    $crate::provider_bindings::export_provider_world!(Exported with_types_in $crate::provider_bindings);
        };
    };
}

/// Checks outside WebAssembly that `P` can be exported.
#[doc(hidden)]
#[must_use]
pub const fn exported<P: Provider>() -> std::marker::PhantomData<Exported<P>> {
    std::marker::PhantomData
}
