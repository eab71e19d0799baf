//! What guests of every kind hand out, in neutral types. JSON is parsed here,
//! once, and what is none is the guest's fault.

use crate::contract::sectile::plugin::types;
use crate::error::SandboxError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sectile_model::{Data, DataSource};
use serde_json::Value;

pub(crate) fn data(from: types::DataBlock) -> Data {
    const UNKNOWN: &str = "application/octet-stream";
    let (media_type, source) = match from.source {
        types::DataSource::Inline(inline) => (
            inline.media_type,
            DataSource::Base64(STANDARD.encode(inline.bytes)),
        ),
        types::DataSource::Url(url) => (
            url.media_type.unwrap_or_else(|| UNKNOWN.to_owned()),
            DataSource::Url(url.url),
        ),
        types::DataSource::FileId(id) => (UNKNOWN.to_owned(), DataSource::FileId(id)),
    };
    Data {
        media_type,
        source,
        name: from.name,
    }
}

pub(crate) fn json(what: &'static str, text: &str) -> Result<Value, SandboxError> {
    serde_json::from_str(text).map_err(|e| SandboxError::MalformedJson {
        what,
        why: e.to_string(),
    })
}
