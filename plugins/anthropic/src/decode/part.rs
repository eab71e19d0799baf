//! One part of an answer, as it grows.

use crate::PROTOCOL;
use sectile_sdk::provider::{
    Block, BlockKind, CallInput, Event, OpaqueBlock, ProviderError, ThinkingBlock, ToolCallBlock,
};
use sectile_wire::arguments::{Arguments, Reading};
use sectile_wire::outbox::{Outbox, protocol};
use sectile_wire::state::state;
use serde_json::{Map, Value, json};

/// A part so far.
pub(super) enum Part {
    Text {
        text: String,
        citations: Vec<Value>,
    },
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(Value),
    Call {
        id: String,
        name: String,
        arguments: Arguments,
        /// Fields that go back with the call.
        more: Map<String, Value>,
        /// Arguments that came at the start, from services that do not stream them.
        at_start: Option<String>,
    },
    /// What only the provider understands, and the arguments it is growing.
    Opaque(Map<String, Value>, Arguments),
}

impl Part {
    /// A part that begins as `block`; `name` gives our name of a tool.
    pub(super) fn start(
        part: u32,
        block: &Value,
        name: impl Fn(&str) -> String,
        out: &mut Outbox,
    ) -> Result<Self, ProviderError> {
        let text = |key: &str| {
            let text = block.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = text("text");
                if !text.is_empty() {
                    out.emit(Event::TextDelta((part, text.clone())));
                }
                let citations = block.get("citations").and_then(Value::as_array);
                let citations = citations.cloned().unwrap_or_default();
                Ok(Self::Text { text, citations })
            }
            Some("thinking") => {
                let (text, signature) = (text("thinking"), text("signature"));
                if !text.is_empty() {
                    out.emit(Event::ThinkingDelta((part, text.clone())));
                }
                Ok(Self::Thinking { text, signature })
            }
            Some("redacted_thinking") => {
                let data = block.get("data").cloned().unwrap_or_default();
                Ok(Self::Redacted(data))
            }
            Some("tool_use") => Self::call(part, block, name, out),
            Some(_) => match block {
                Value::Object(block) => Ok(Self::Opaque(block.clone(), Arguments::default())),
                _ => Err(protocol("a part of the answer is no object")),
            },
            None => Err(protocol("a part of the answer has no `type`")),
        }
    }

    fn call(
        part: u32,
        block: &Value,
        name: impl Fn(&str) -> String,
        out: &mut Outbox,
    ) -> Result<Self, ProviderError> {
        let text = |key: &str| {
            let text = block.get(key).and_then(Value::as_str);
            text.filter(|text| !text.is_empty())
        };
        let wire = text("name").ok_or_else(|| protocol("a tool call of the answer has no name"))?;
        let id = text("id").map_or_else(|| format!("call_{part}"), str::to_owned);
        let name = name(wire);
        let mut more = block.as_object().cloned().unwrap_or_default();
        for key in ["type", "id", "name", "cache_control"] {
            more.shift_remove(key);
        }
        let at_start = match more.shift_remove("input") {
            Some(Value::Object(input)) if input.is_empty() => None,
            None | Some(Value::Null) => None,
            other => other,
        };
        out.emit(Event::ToolCallStart((part, id.clone(), name.clone())));
        Ok(Self::Call {
            id,
            name,
            arguments: Arguments::default(),
            more,
            at_start: at_start.map(|input| input.to_string()),
        })
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. })
    }

    /// A call whose arguments may be missing or may be none.
    pub(super) fn is_empty_call(&self) -> bool {
        match self {
            Self::Call {
                arguments,
                at_start,
                ..
            } => arguments.text().trim().is_empty() && at_start.is_none(),
            _ => false,
        }
    }

    pub(super) fn delta(
        &mut self,
        part: u32,
        delta: &Value,
        out: &mut Outbox,
    ) -> Result<(), ProviderError> {
        let kind = delta
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let piece = |key: &str| {
            delta
                .get(key)
                .and_then(Value::as_str)
                .ok_or_else(|| protocol(&format!("a `{kind}` of the answer has no `{key}`")))
        };
        match (self, kind) {
            (Self::Text { text, .. }, "text_delta") => {
                let piece = piece("text")?;
                text.push_str(piece);
                emit(piece, out, |piece| Event::TextDelta((part, piece)));
            }
            (Self::Text { citations, .. }, "citations_delta") => {
                citations.extend(delta.get("citation").cloned());
            }
            (Self::Thinking { text, .. }, "thinking_delta") => {
                let piece = piece("thinking")?;
                text.push_str(piece);
                emit(piece, out, |piece| Event::ThinkingDelta((part, piece)));
            }
            (Self::Thinking { signature, .. }, "signature_delta") => {
                signature.push_str(piece("signature")?);
            }
            (Self::Call { arguments, .. }, "input_json_delta") => {
                let piece = piece("partial_json")?;
                arguments.push(piece)?;
                emit(piece, out, |piece| Event::ToolCallDelta((part, piece)));
            }
            (Self::Opaque(_, arguments), "input_json_delta") => {
                arguments.push(piece("partial_json")?)?;
            }
            (Self::Opaque(block, _), _) => grow(block, delta),
            _ => out.notice(&json!({"type": "unknown_delta", "delta": delta})),
        }
        Ok(())
    }

    /// The whole part, and how its arguments read when it is a call.
    pub(super) fn done(
        self,
        part: u32,
        is_whole: bool,
        model: &str,
        out: &mut Outbox,
    ) -> (Block, Option<Reading>) {
        let mut reading = None;
        let with = |data: &Value| Some(state(PROTOCOL, model, data));
        let (kind, state) = match self {
            Self::Text { text, citations } => {
                let state = (!citations.is_empty()).then(|| json!({"citations": citations}));
                (BlockKind::Text(text), state.and_then(|state| with(&state)))
            }
            Self::Thinking { text, signature } => {
                let state = (!signature.is_empty()).then(|| json!({"signature": signature}));
                let kind = BlockKind::Thinking(ThinkingBlock {
                    text: Some(text).filter(|text| !text.is_empty()),
                    summary: Vec::new(),
                    redacted: false,
                });
                (kind, state.and_then(|state| with(&state)))
            }
            Self::Redacted(data) => {
                let kind = BlockKind::Thinking(ThinkingBlock {
                    text: None,
                    summary: Vec::new(),
                    redacted: true,
                });
                (kind, with(&json!({"data": data})))
            }
            Self::Call {
                id,
                name,
                mut arguments,
                more,
                at_start,
            } => {
                if let Some(whole) = at_start.filter(|_| arguments.text().trim().is_empty()) {
                    // Bounded by the line it came in.
                    if arguments.push(&whole).is_ok() {
                        out.emit(Event::ToolCallDelta((part, whole)));
                    }
                }
                reading = Some(arguments.read());
                let input = arguments.input(is_whole);
                if !is_whole && matches!(input, CallInput::Raw(_)) {
                    reading = Some(Reading::Cut);
                }
                let state = (!more.is_empty()).then_some(Value::Object(more));
                let call = BlockKind::ToolCall(ToolCallBlock { id, name, input });
                (call, state.and_then(|state| with(&state)))
            }
            Self::Opaque(mut block, arguments) => {
                if !arguments.text().trim().is_empty()
                    && let Reading::Whole(input) = arguments.read()
                    && let Ok(input) = serde_json::from_str::<Value>(&input)
                {
                    block.insert("input".to_owned(), input);
                }
                let kind = block.get("type").and_then(Value::as_str);
                let kind = BlockKind::Opaque(OpaqueBlock {
                    kind: kind.unwrap_or_default().to_owned(),
                    payload: Value::Object(block).to_string(),
                });
                (kind, with(&json!({})))
            }
        };
        (Block { kind, state }, reading)
    }
}

fn emit(piece: &str, out: &mut Outbox, event: impl FnOnce(String) -> Event) {
    if !piece.is_empty() {
        out.emit(event(piece.to_owned()));
    }
}

/// Adds what a delta of an unknown kind holds to the field of the same name.
fn grow(block: &mut Map<String, Value>, delta: &Value) {
    let fields = delta.as_object().into_iter().flatten();
    for (key, value) in fields.filter(|(key, _)| *key != "type") {
        match (block.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
            _ => {
                block.insert(key.clone(), value.clone());
            }
        }
    }
}
