//! What a model call is composed from besides the conversation, as one text
//! that is kept once; and the bytes that a call is known by.

use crate::error::SessionError;
use crate::host::Host;
use sectile_engine::{CompactRule, Displaced, PreparedModelCall};
use sectile_model::{Digest, ModelCapabilities, ModelRequest, SystemPart, ToolDefinition};
use sectile_store::{CallRecord, SessionStore, StoreError};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Two of the three regions, and the rules that join them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Frame {
    pub(crate) model: ModelCapabilities,
    pub(crate) compact_rule: CompactRule,
    pub(crate) displaced: Displaced,
    pub(crate) system: Vec<SystemPart>,
    pub(crate) tools: Vec<ToolDefinition>,
}

impl Frame {
    pub(crate) fn of(call: &PreparedModelCall, host: &Host) -> Self {
        Self {
            model: host.model().clone(),
            compact_rule: host.profile().compact_rule,
            displaced: host.profile().displaced,
            system: call.request.system.clone(),
            tools: call.request.tools.clone(),
        }
    }

    /// The frame of a recorded call.
    pub(crate) fn load(store: &dyn SessionStore, call: &CallRecord) -> Result<Self, SessionError> {
        let text = store.frame(&call.frame_digest)?;
        serde_json::from_str(&text).map_err(|e| {
            SessionError::Store(StoreError::Corrupt {
                path: "sectile.db".into(),
                why: format!("the frame {} does not parse: {e}", call.frame_digest),
            })
        })
    }

    pub(crate) fn to_text(&self) -> String {
        // Of maps with text keys and numbers only: it cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The request's compact JSON, by which it is known.
pub(crate) fn request_text(request: &ModelRequest) -> String {
    serde_json::to_string(request).unwrap_or_default()
}

pub(crate) fn digest(text: &str) -> Digest {
    Digest::from_bytes(Sha256::digest(text).into())
}
