//! Messages and what they are made of.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, and everything the host says in the user's place.
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
    /// Never part of a conversation; parsed so that it can be refused (CE-10).
    System,
}

/// One message. Its blocks keep the order of the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Vec<Block>,
}

/// One block, with what its provider wants back unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The content.
    #[serde(flatten)]
    pub kind: BlockKind,
    /// Signature, encrypted reasoning, item id (PV-2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ProviderState>,
}

impl Block {
    /// The text of a text block.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            BlockKind::Text { text } => Some(text),
            _ => None,
        }
    }
}

impl From<BlockKind> for Block {
    fn from(kind: BlockKind) -> Self {
        Self { kind, state: None }
    }
}

/// The kinds of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BlockKind {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image, a document, a sound.
    Data(Data),
    /// The model's reasoning.
    Thinking(Thinking),
    /// The model declined.
    Refusal {
        /// Its words.
        text: String,
    },
    /// Something only its provider understands.
    Opaque {
        /// The provider's name for it.
        kind: String,
        /// Its content.
        payload: Value,
    },
    /// The model calls a tool.
    ToolCall(ToolCall),
    /// What a tool answered.
    ToolResult(ToolResult),
}

/// What one provider must get back unchanged; sent only to the same protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderState {
    /// The protocol it belongs to.
    pub protocol: String,
    /// The model it came from.
    pub model: String,
    /// Its content.
    pub data: Value,
}

/// Binary content by value or by reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Its type, as in `image/png`.
    pub media_type: String,
    /// Where it is.
    pub source: DataSource,
    /// A file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Where binary content is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DataSource {
    /// Here, as base64 text.
    Base64(String),
    /// At an address.
    Url(String),
    /// With the provider.
    FileId(String),
}

impl DataSource {
    /// The text that stands for the content in a request.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Base64(text) | Self::Url(text) | Self::FileId(text) => text,
        }
    }
}

/// The model's reasoning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thinking {
    /// In full, when the provider shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Summaries of it.
    #[serde(default)]
    pub summary: Vec<String>,
    /// The provider keeps the text to itself.
    #[serde(default)]
    pub redacted: bool,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "ToolCallFields")]
pub struct ToolCall {
    /// Unique within its message.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments.
    pub input: CallInput,
}

/// Arguments of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallInput {
    /// Whole and parsed; `input` in the JSON form.
    Parsed(Value),
    /// Cut or malformed, never executed; `input_raw` in the JSON form.
    Raw(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCallFields {
    id: String,
    name: String,
    // `null` is a value here, and not the absence of one.
    #[serde(default, deserialize_with = "some_value")]
    input: Option<Value>,
    input_raw: Option<String>,
}

fn some_value<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl TryFrom<ToolCallFields> for ToolCall {
    type Error = &'static str;

    fn try_from(fields: ToolCallFields) -> Result<Self, Self::Error> {
        let input = match (fields.input, fields.input_raw) {
            (Some(value), None) => CallInput::Parsed(value),
            (None, Some(text)) => CallInput::Raw(text),
            _ => return Err("a tool call has either `input` or `input_raw`"),
        };
        Ok(Self {
            id: fields.id,
            name: fields.name,
            input,
        })
    }
}

impl Serialize for ToolCall {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ToolCall", 3)?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("name", &self.name)?;
        match &self.input {
            CallInput::Parsed(value) => fields.serialize_field("input", value)?,
            CallInput::Raw(text) => fields.serialize_field("input_raw", text)?,
        }
        fields.end()
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultStatus {
    /// As asked.
    Success,
    /// It failed.
    Error,
    /// It was not allowed.
    Denied,
    /// It never came to an end.
    Interrupted,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: String,
    /// Name of the tool.
    pub name: String,
    /// How the call ended.
    pub status: ResultStatus,
    /// For the model.
    pub output: Vec<ResultBlock>,
    /// For user interfaces only; never sent and never counted (CE-13).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Value>,
}

/// What a tool result is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum ResultBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Binary content.
    Data(Data),
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn round_trips(block: &Value) {
        let parsed: Block = serde_json::from_value(block.clone()).unwrap();
        assert_eq!(&serde_json::to_value(&parsed).unwrap(), block);
    }

    #[test]
    fn every_block_prints_what_it_was_read_from() {
        for block in [
            json!({"type": "text", "text": "a"}),
            json!({"type": "data", "media_type": "image/png", "source": {"base64": "QQ=="}, "name": "a.png"}),
            json!({"type": "data", "media_type": "image/png", "source": {"url": "u"}}),
            json!({"type": "data", "media_type": "image/png", "source": {"file_id": "f"}}),
            json!({"type": "thinking", "text": "t", "summary": ["s"], "redacted": false}),
            json!({"type": "refusal", "text": "no"}),
            json!({"type": "opaque", "kind": "k", "payload": [1, null]}),
            json!({"type": "tool_call", "id": "c", "name": "n", "input": {"b": 1, "a": 2}}),
            json!({"type": "tool_call", "id": "c", "name": "n", "input": null}),
            json!({"type": "tool_call", "id": "c", "name": "n", "input_raw": "{\"a\": "}),
            json!({"type": "tool_result", "call_id": "c", "name": "n", "status": "denied",
                   "output": [{"type": "text", "text": "x"}], "artifacts": [{"a": 1}]}),
            json!({"type": "text", "text": "a", "state": {"protocol": "p", "model": "m", "data": {"s": "x"}}}),
        ] {
            round_trips(&block);
        }
    }

    #[test]
    fn unknown_fields_and_variants_are_refused() {
        for block in [
            json!({"type": "text", "text": "a", "extra": 1}),
            json!({"type": "text"}),
            json!({"type": "smell", "text": "a"}),
            json!({"text": "a"}),
            json!({"type": "data", "media_type": "a", "source": {"base64": "a", "url": "b"}}),
            json!({"type": "tool_call", "id": "c", "name": "n"}),
            json!({"type": "tool_call", "id": "c", "name": "n", "input": {}, "input_raw": ""}),
            json!({"type": "tool_call", "id": "c", "name": "n", "input": {}, "extra": 1}),
            json!({"type": "tool_result", "call_id": "c", "name": "n", "status": "fine", "output": []}),
            json!({"type": "text", "text": "a", "state": {"protocol": "p"}}),
        ] {
            assert!(
                serde_json::from_value::<Block>(block.clone()).is_err(),
                "{block}"
            );
        }
    }
}
