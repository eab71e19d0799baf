//! Answers of real services, against a second reading of the same bodies.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use sectile_plugin_openai_chat::{ChatDecoder, OpenAiChat};
use sectile_sdk::provider::{ErrorClass, FinishReason, Provider, Retry};
use sectile_wire_testing::{Answer, Recorded, answer, decode, in_every_split, recorded};
use serde_json::{Value, json};

const CARRY: &str = r#"{"model": "m", "names": {}}"#;

/// The message of a body with its reason and usage, put together the plain way.
fn message(case: &Recorded) -> (Value, Value, Value) {
    if !case.content_type.contains("event-stream") {
        let body: Value = serde_json::from_str(&case.body).unwrap();
        let choice = &body["choices"][0];
        return (
            choice["message"].clone(),
            choice["finish_reason"].clone(),
            body["usage"].clone(),
        );
    }
    let mut message = json!({"content": "", "tool_calls": []});
    let (mut reason, mut usage) = (Value::Null, Value::Null);
    let data = case
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    for data in data.filter(|data| *data != "[DONE]") {
        let chunk: Value = serde_json::from_str(data).unwrap();
        for found in [&chunk["usage"], &chunk["x_groq"]["usage"]] {
            if found.is_object() && (usage.is_null() || chunk["usage"].is_object()) {
                usage = found.clone();
            }
        }
        for choice in chunk["choices"].as_array().into_iter().flatten() {
            if choice["index"] != 0 {
                continue;
            }
            if reason.is_null() {
                reason = choice["finish_reason"].clone();
            }
            let delta = &choice["delta"];
            for key in ["content", "refusal", "reasoning_content", "reasoning"] {
                if let Some(piece) = delta[key].as_str() {
                    let text = message[key].as_str().unwrap_or_default();
                    message[key] = json!(format!("{text}{piece}"));
                }
            }
            for call in delta["tool_calls"].as_array().into_iter().flatten() {
                let at = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
                let calls = message["tool_calls"].as_array_mut().unwrap();
                if calls.len() == at {
                    calls.push(json!({"function": {"name": "", "arguments": ""}}));
                }
                for key in ["name", "arguments"] {
                    let text = calls[at]["function"][key].as_str().unwrap().to_owned();
                    let piece = call["function"][key].as_str().unwrap_or_default();
                    calls[at]["function"][key] = json!(text + piece);
                }
            }
        }
    }
    (message, reason, usage)
}

fn check(case: &Recorded, found: &Answer) {
    let name = &case.name;
    let (message, reason, usage) = message(case);
    let text = |key: &str| message[key].as_str().unwrap_or_default();
    assert_eq!(found.text, text("content"), "{name}");
    assert_eq!(found.refusal, text("refusal"), "{name}");
    let thinking = match text("reasoning_content") {
        "" => text("reasoning"),
        thinking => thinking,
    };
    assert_eq!(found.thinking, thinking, "{name}");
    let calls = message["tool_calls"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let last = calls.len().saturating_sub(1);
    let calls: Vec<_> = calls
        .iter()
        .enumerate()
        .map(|(n, call)| {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            let input = match arguments {
                text if n == last && reason == "length" => json!(text),
                "" | "null" => json!({}),
                text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            };
            (call["function"]["name"].as_str().unwrap().to_owned(), input)
        })
        .collect();
    assert_eq!(found.calls, calls, "{name}");
    assert_eq!(found.raw.as_deref(), reason.as_str(), "{name}");
    let expected = match reason.as_str().unwrap() {
        "stop" if !found.refusal.is_empty() => FinishReason::Refusal,
        "stop" | "tool_calls" if !calls.is_empty() => FinishReason::ToolCalls,
        "stop" => FinishReason::Stop,
        "length" => FinishReason::Length,
        other => panic!("{other}"),
    };
    assert_eq!(found.reason, expected, "{name}");
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let cached = count("/prompt_tokens_details/cached_tokens");
    let cached = cached.or(count("/prompt_cache_hit_tokens"));
    let input = count("/prompt_tokens").map(|all| all - cached.unwrap_or(0));
    assert_eq!(found.usage.input_tokens, input, "{name}");
    assert_eq!(
        found.usage.output_tokens,
        count("/completion_tokens"),
        "{name}"
    );
    assert_eq!(found.usage.cache_read_tokens, cached, "{name}");
}

#[test]
fn pv_12_recorded_answers_mean_what_they_say_in_every_split() {
    for kind in ["stream", "whole"] {
        for case in recorded("openai-chat", kind) {
            let outcome =
                in_every_split::<ChatDecoder>(CARRY, &case.content_type, case.body.as_bytes());
            assert_eq!(outcome.error, None, "{}", case.name);
            check(&case, &answer(&outcome.events));
        }
    }
}

#[test]
fn pv_5_a_recorded_stream_that_breaks_off_is_truncated() {
    for case in recorded("openai-chat", "stream") {
        let end = case.body.find("\"finish_reason\":\"").unwrap();
        let (before, _) = case.body.split_at(end);
        let end = before.rfind("data: ").unwrap();
        let ends = case.body.match_indices("\n\n").map(|(at, _)| at + 2);
        for at in ends.filter(|at| *at <= end) {
            let cut = &case.body.as_bytes()[..at];
            let outcome = decode::<ChatDecoder>(CARRY, &case.content_type, [cut]);
            let class = outcome.error.map(|e| e.class);
            assert_eq!(class, Some(ErrorClass::Truncated), "{} {at}", case.name);
        }
    }
}

#[test]
fn pv_7_recorded_errors_are_classified() {
    for case in recorded("openai-chat", "error") {
        let error = OpenAiChat::classify_error(case.status, &[], case.body.as_bytes());
        let (class, retry) = match case.status {
            400 if case.body.contains("Invalid model") => (ErrorClass::NotFound, Retry::Never),
            400 => (ErrorClass::InvalidRequest, Retry::Never),
            401 => (ErrorClass::Authentication, Retry::Never),
            403 => (ErrorClass::Permission, Retry::Never),
            404 => (ErrorClass::NotFound, Retry::Never),
            500 => (ErrorClass::Server, Retry::Same),
            other => panic!("{other}"),
        };
        assert_eq!((error.class, error.retry), (class, retry), "{}", case.name);
        let words: Vec<_> = error.message.split('"').collect();
        assert!(
            words.iter().all(|word| case.body.contains(word)),
            "{}",
            case.name
        );
    }
}
