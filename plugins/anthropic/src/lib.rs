//! Provider adapter for Anthropic Messages, versions 2023-06-01 and 2026-10-21.

mod capabilities;
mod decode;
mod encode;
mod model;

pub use decode::MessagesDecoder;

use sectile_sdk::provider::{
    Encoded, Failure, Header, ModelCapabilities, Provider, ProviderError, Request,
};
use sectile_wire::classify;

/// The name of the protocol in the state of blocks.
const PROTOCOL: &str = "anthropic-messages";

/// The adapter.
pub struct Anthropic;

impl Provider for Anthropic {
    type Decoder = MessagesDecoder;

    fn capabilities(model: &str, catalogue: Option<&str>) -> Result<ModelCapabilities, Failure> {
        capabilities::of(model, catalogue)
    }

    fn encode(request: Request) -> Result<Encoded, ProviderError> {
        encode::encode(&request)
    }

    fn classify_error(status: u16, headers: &[Header], body: &[u8]) -> ProviderError {
        classify::response(status, headers, body)
    }
}

sectile_sdk::export_provider!(Anthropic);
