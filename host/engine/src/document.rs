//! The engine on documents: `sectile.context/1` in, `sectile.prepared/1` out.

use crate::budget::Budget;
use crate::error::EngineError;
use crate::limits::{CompactRule, Limits};
use crate::normalise::Displaced;
use crate::prepare::{ContextInput, MessageOrigin, PreparedModelCall, Report, prepare};
use sectile_model::{Conversation, ModelCapabilities, ModelRequest, SystemPart, ToolDefinition};
use serde::{Deserialize, Serialize};

/// Format of the input.
const CONTEXT_FORMAT: &str = "sectile.context/1";
/// Format of the output.
pub const PREPARED_FORMAT: &str = "sectile.prepared/1";

/// The three regions as one document. Unknown fields are an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextDocument {
    /// `sectile.context/1`.
    pub format: String,
    /// The model that will read the request.
    pub model: ModelCapabilities,
    /// When to compact.
    #[serde(default)]
    pub compact_rule: CompactRule,
    /// What becomes of displaced results.
    #[serde(default)]
    pub displaced: Displaced,
    /// The system context.
    pub system: Vec<SystemPart>,
    /// The conversation.
    pub conversation: Conversation,
    /// The advertised tools.
    pub tools: Vec<ToolDefinition>,
}

/// A prepared call as a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreparedDocument {
    /// `sectile.prepared/1`.
    pub format: &'static str,
    /// The request.
    pub request: ModelRequest,
    /// Its size.
    pub budget: Budget,
    /// What fits.
    pub limits: Limits,
    /// What the steps changed.
    pub report: Report,
    /// Where each message came from.
    pub origins: Vec<MessageOrigin>,
}

impl From<PreparedModelCall> for PreparedDocument {
    fn from(call: PreparedModelCall) -> Self {
        Self {
            format: PREPARED_FORMAT,
            request: call.request,
            budget: call.budget,
            limits: call.limits,
            report: call.report,
            origins: call.messages.into_iter().map(|m| m.origin).collect(),
        }
    }
}

impl ContextDocument {
    /// Reads a document.
    ///
    /// # Errors
    /// [`EngineError::UnknownFormat`] or [`EngineError::InvalidDocument`], with
    /// line and column.
    pub fn parse(json: &str) -> Result<Self, EngineError> {
        #[derive(Deserialize)]
        struct Format {
            format: String,
        }
        let invalid = |e: serde_json::Error| EngineError::InvalidDocument(e.to_string());
        // Read on its own, so that a newer document is told from a broken one.
        let Format { format } = serde_json::from_str(json).map_err(invalid)?;
        if format != CONTEXT_FORMAT {
            return Err(EngineError::UnknownFormat {
                found: format,
                expected: CONTEXT_FORMAT,
            });
        }
        serde_json::from_str(json).map_err(invalid)
    }

    /// Prepares it.
    ///
    /// # Errors
    /// [`EngineError`] as [`prepare`] gives it.
    pub fn prepare(&self) -> Result<PreparedModelCall, EngineError> {
        prepare(&ContextInput {
            model: &self.model,
            compact_rule: self.compact_rule,
            displaced: self.displaced,
            system: &self.system,
            conversation: &self.conversation,
            tools: &self.tools,
        })
    }
}

/// Reads and prepares a `sectile.context/1` document.
///
/// # Errors
/// [`EngineError`].
pub fn prepare_document(json: &str) -> Result<PreparedDocument, EngineError> {
    Ok(ContextDocument::parse(json)?.prepare()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_are_not_are_told_apart() {
        let code = |json: &str| ContextDocument::parse(json).unwrap_err().code();
        assert_eq!(code("{"), "invalid_document");
        assert_eq!(code("{}"), "invalid_document");
        assert_eq!(
            code(r#"{"format": "sectile.context/2", "new": 1}"#),
            "unknown_format"
        );
        assert_eq!(
            code(r#"{"format": "sectile.context/1"}"#),
            "invalid_document"
        );
        assert_eq!(code(&"[".repeat(100_000)), "invalid_document");
    }
}
