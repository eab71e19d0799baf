//! Answers in Anthropic Messages.

use super::{Fault, Part, Reply};
use serde_json::{Value, json};

pub(super) fn error(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

fn stop_reason(reply: &Reply) -> &'static str {
    let calls = reply.parts.iter().any(|p| matches!(p, Part::Call { .. }));
    match (reply.is_cut, calls) {
        (true, _) => "max_tokens",
        (false, true) => "tool_use",
        (false, false) => "end_turn",
    }
}

pub(super) fn whole(reply: &Reply) -> String {
    let content = reply.parts.iter().map(|part| match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Part::Call {
            id,
            name,
            arguments,
        } => {
            let input: Value = serde_json::from_str(arguments).unwrap_or(Value::Null);
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    });
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "test-model",
        "content": content.collect::<Vec<_>>(),
        "stop_reason": stop_reason(reply), "stop_sequence": null,
        "usage": {"input_tokens": 100, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 0, "output_tokens": 20},
    })
    .to_string()
}

pub(super) fn stream(reply: &Reply) -> String {
    let mut events = vec![
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "test-model", "content": [],
            "stop_reason": null, "usage": {"input_tokens": 100, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 0, "output_tokens": 1},
        }}),
        json!({"type": "ping"}),
    ];
    for (index, part) in reply.parts.iter().enumerate() {
        let (start, deltas) = match part {
            Part::Text(text) => (
                json!({"type": "text", "text": ""}),
                halves(text)
                    .map(|text| json!({"type": "text_delta", "text": text}))
                    .to_vec(),
            ),
            Part::Thinking { text, signature } => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": text}),
                    json!({"type": "signature_delta", "signature": signature}),
                ],
            ),
            Part::Call {
                id,
                name,
                arguments,
            } => (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                halves(arguments)
                    .map(|json| json!({"type": "input_json_delta", "partial_json": json}))
                    .to_vec(),
            ),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        if index == 0 {
            events.extend(fault(reply));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta", "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
        "usage": {"output_tokens": 20},
    }));
    events.push(json!({"type": "message_stop"}));
    if matches!(reply.fault, Some(Fault::NoEnd)) {
        events.pop();
    }
    if matches!(reply.fault, Some(Fault::KeepAlive)) {
        events.truncate(2);
    }
    let frame = |event: &Value| {
        let name = event.get("type").and_then(Value::as_str).unwrap_or("");
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(frame).collect()
}

fn fault(reply: &Reply) -> Option<Value> {
    match reply.fault {
        Some(Fault::Malformed) => {
            Some(json!({"type": "content_block_delta", "index": "zero", "delta": 1}))
        }
        Some(Fault::ErrorEvent) => Some(
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ),
        _ => None,
    }
}

/// Two pieces, so that something has to be put together again.
fn halves(text: &str) -> [&str; 2] {
    let middle = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(middle);
    [first, second]
}
