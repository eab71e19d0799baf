//! Blocks as the protocol prints them.

use super::Context;
use crate::PROTOCOL;
use crate::capabilities::IMAGES;
use sectile_sdk::provider::{
    Block, BlockKind, CallInput, DataBlock, DataSource, ResultContent, ThinkingBlock, ToolCallBlock,
};
use sectile_wire::data::{self, Kind};
use sectile_wire::state;
use sectile_wire::turns::Answer;
use serde_json::{Map, Value, json};

impl Context<'_> {
    /// What the user says.
    pub(super) fn user_block(&mut self, block: &Block) -> Option<Value> {
        match &block.kind {
            BlockKind::Text(text) => Some(text_block(text)),
            BlockKind::Data(data) => Some(self.data(data)),
            _ => None,
        }
    }

    /// What the model said; `id` is the protocol's for a call.
    pub(super) fn assistant_block(&mut self, block: &Block, id: Option<&str>) -> Option<Value> {
        let state = state::for_model(block, PROTOCOL, &self.request.model);
        match &block.kind {
            BlockKind::Text(text) => {
                let mut out = text_block(text);
                if let Some(citations) = state.as_ref().and_then(|s| s.get("citations")) {
                    set(&mut out, "citations", citations.clone());
                }
                Some(out)
            }
            BlockKind::Refusal(text) => Some(text_block(text)),
            BlockKind::Data(data) => {
                let why = "the model's turn takes no data, a note stands in its place";
                self.notes.approximated("messages", why);
                Some(text_block(&data::placeholder(data)))
            }
            BlockKind::Thinking(thinking) => {
                let out = state.and_then(|state| thinking_block(thinking, &state));
                if out.is_none() {
                    let why = "thinking of another provider, or unsigned, is refused";
                    self.notes.dropped("messages", why);
                }
                out
            }
            BlockKind::Opaque(opaque) => {
                let out = state.and_then(|_| serde_json::from_str(&opaque.payload).ok());
                let out = out.filter(Value::is_object);
                if out.is_none() {
                    let why = format!("only its own provider understands `{}`", opaque.kind);
                    self.notes.dropped("messages", &why);
                }
                out
            }
            BlockKind::ToolCall(call) => Some(self.call(call, id?, state.as_ref())),
            BlockKind::ToolResult(_) => None,
        }
    }

    fn call(&mut self, call: &ToolCallBlock, id: &str, state: Option<&Value>) -> Value {
        let input = match &call.input {
            CallInput::Raw(text) => Err(json!(text)),
            CallInput::Parsed(json) => match serde_json::from_str(json) {
                Ok(input @ Value::Object(_)) => Ok(input),
                Ok(Value::Null) => Ok(json!({})),
                Ok(other) => Err(other),
                Err(_) => Err(json!(json)),
            },
        };
        let input = input.unwrap_or_else(|other| {
            let why = "arguments that are no object are wrapped in one";
            self.notes.approximated("messages", why);
            json!({"_raw": other})
        });
        let name = self.names.to_wire(&call.name);
        let mut out = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        if let (Value::Object(out), Some(Value::Object(more))) = (&mut out, state) {
            for (key, value) in more {
                out.entry(key.as_str()).or_insert_with(|| value.clone());
            }
        }
        out
    }

    /// The result of a call. It is never empty.
    pub(super) fn answer(&mut self, answer: &Answer) -> Value {
        let parts = answer.result.map_or(&[][..], |result| &result.content);
        let mut content: Vec<_> = parts
            .iter()
            .filter_map(|part| match part {
                ResultContent::Text(text) if text.trim().is_empty() => None,
                ResultContent::Text(text) => Some(text_block(text)),
                ResultContent::Data(data) => Some(self.data(data)),
            })
            .collect();
        if content.is_empty() {
            content.push(text_block(answer.fallback()));
        }
        let mut out = json!({"type": "tool_result", "tool_use_id": answer.id, "content": content});
        if answer.failed() {
            set(&mut out, "is_error", json!(true));
        }
        out
    }

    fn data(&mut self, block: &DataBlock) -> Value {
        let media_type = data::media_type(block);
        let kind = data::kind(&media_type);
        let is_image = match &block.source {
            DataSource::Inline(_) => IMAGES.contains(&media_type.as_str()),
            _ => kind == Kind::Image,
        };
        let source = match &block.source {
            DataSource::FileId(id) => Some(json!({"type": "file", "file_id": id})),
            DataSource::Url(url) if is_image || kind == Kind::Pdf || kind == Kind::Other => {
                Some(json!({"type": "url", "url": url.url}))
            }
            DataSource::Inline(inline) if is_image || kind == Kind::Pdf => Some(json!({
                "type": "base64", "media_type": media_type, "data": data::base64(&inline.bytes)
            })),
            DataSource::Inline(inline) if kind == Kind::Text && !inline.bytes.is_empty() => {
                let text = String::from_utf8_lossy(&inline.bytes);
                Some(json!({"type": "text", "media_type": "text/plain", "data": text}))
            }
            _ => None,
        };
        let Some(source) = source else {
            let why = format!("{media_type} is not taken, a note stands in its place");
            self.notes.approximated("messages", &why);
            return text_block(&data::placeholder(block));
        };
        let guessed_image = kind == Kind::Other && matches!(block.source, DataSource::Url(_));
        if is_image || guessed_image {
            return json!({"type": "image", "source": source});
        }
        let mut out = Map::new();
        out.insert("type".to_owned(), json!("document"));
        out.insert("source".to_owned(), source);
        if let Some(name) = block.name.as_deref().filter(|name| !name.trim().is_empty()) {
            out.insert("title".to_owned(), json!(name));
        }
        Value::Object(out)
    }
}

pub(super) fn set(block: &mut Value, key: &str, value: Value) {
    if let Value::Object(block) = block {
        block.insert(key.to_owned(), value);
    }
}

pub(super) fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Thinking is given back byte by byte, also when it is signed and empty.
fn thinking_block(thinking: &ThinkingBlock, state: &Value) -> Option<Value> {
    if let Some(data) = state.get("data").filter(|data| data.is_string()) {
        return Some(json!({"type": "redacted_thinking", "data": data}));
    }
    let signature = state.get("signature").filter(|s| s.is_string())?;
    let text = thinking.text.as_deref().unwrap_or_default();
    Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
}
