//! Provider adapter for OpenAI Chat Completions and its dialects.

mod capabilities;
mod decode;
mod dialect;
mod encode;
mod model;

pub use decode::ChatDecoder;

use sectile_sdk::provider::{
    Encoded, Failure, Header, ModelCapabilities, Provider, ProviderError, Request,
};
use sectile_wire::classify;

/// The name of the protocol in the state of blocks.
const PROTOCOL: &str = "openai-chat";

/// The adapter.
pub struct OpenAiChat;

impl Provider for OpenAiChat {
    type Decoder = ChatDecoder;

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

sectile_sdk::export_provider!(OpenAiChat);
