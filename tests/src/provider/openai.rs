//! Answers in OpenAI Chat Completions.

use super::{Fault, Part, Reply};
use serde_json::{Value, json};

pub(super) fn error(kind: &str, message: &str) -> String {
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}}).to_string()
}

fn finish_reason(reply: &Reply) -> &'static str {
    let calls = reply.parts.iter().any(|p| matches!(p, Part::Call { .. }));
    match (reply.is_cut, calls) {
        (true, _) => "length",
        (false, true) => "tool_calls",
        (false, false) => "stop",
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 150, "completion_tokens": 20, "total_tokens": 170, "prompt_tokens_details": {"cached_tokens": 50}})
}

fn calls(reply: &Reply) -> Vec<Value> {
    let calls = reply.parts.iter().filter_map(|part| match part {
        Part::Call {
            id,
            name,
            arguments,
        } => Some(json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})),
        _ => None,
    });
    calls.collect()
}

fn texts(reply: &Reply) -> String {
    let texts = reply.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

pub(super) fn whole(reply: &Reply) -> String {
    let mut message = json!({"role": "assistant", "content": texts(reply)});
    let calls = calls(reply);
    if let (false, Some(message)) = (calls.is_empty(), message.as_object_mut()) {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(reply)}],
        "usage": usage(),
    })
    .to_string()
}

pub(super) fn stream(reply: &Reply) -> String {
    let mut frames = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
    let text = texts(reply);
    let middle = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(middle);
    for piece in [first, second] {
        if !piece.is_empty() {
            frames.push(chunk(&json!({"content": piece}), None));
        }
    }
    frames.extend(fault(reply));
    for (index, call) in calls(reply).into_iter().enumerate() {
        let mut opening = call.clone();
        let arguments = call.pointer("/function/arguments");
        let arguments = arguments
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        if let Some(function) = opening.get_mut("function").and_then(Value::as_object_mut) {
            function.insert("arguments".to_owned(), "".into());
        }
        if let Some(opening) = opening.as_object_mut() {
            opening.insert("index".to_owned(), index.into());
        }
        frames.push(chunk(&json!({"tool_calls": [opening]}), None));
        let delta = json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]});
        frames.push(chunk(&delta, None));
    }
    if matches!(reply.fault, Some(Fault::KeepAlive)) {
        frames.truncate(1);
        return frames.concat();
    }
    if !matches!(reply.fault, Some(Fault::NoEnd)) {
        frames.push(chunk(&json!({}), Some(finish_reason(reply))));
        frames.push(format!(
            "data: {}\n\n",
            json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": usage()})
        ));
        frames.push("data: [DONE]\n\n".to_owned());
    }
    frames.concat()
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    format!(
        "data: {}\n\n",
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": null,
        })
    )
}

fn fault(reply: &Reply) -> Option<String> {
    match reply.fault {
        Some(Fault::Malformed) => {
            Some("data: {\"choices\": [{\"index\": 0, \"delta\": 7}]}\n\n".to_owned())
        }
        Some(Fault::ErrorEvent) => Some(format!(
            "data: {}\n\n",
            json!({"error": {"message": "The server is overloaded", "type": "server_error", "code": 503}, "choices": []})
        )),
        _ => None,
    }
}
