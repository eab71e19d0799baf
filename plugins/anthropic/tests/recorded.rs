//! Answers of the real service, against a second reading of the same bodies.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use sectile_plugin_anthropic::{Anthropic, MessagesDecoder};
use sectile_sdk::provider::{ErrorClass, FinishReason, Provider, Retry};
use sectile_wire_testing::{Answer, Recorded, answer, decode, in_every_split, recorded};
use serde_json::{Value, json};

const CARRY: &str = r#"{"model": "claude-sonnet-4-6", "names": {}}"#;

/// The message of a body, put together the plain way.
fn message(case: &Recorded) -> Value {
    if !case.content_type.contains("event-stream") {
        return serde_json::from_str(&case.body).unwrap();
    }
    let mut message = json!({"content": [], "usage": {}});
    let data = case
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    for event in data.map(|data| serde_json::from_str::<Value>(data).unwrap()) {
        let at = usize::try_from(event["index"].as_u64().unwrap_or(0)).unwrap();
        let delta = &event["delta"];
        match event["type"].as_str().unwrap() {
            "message_start" => message["usage"] = event["message"]["usage"].clone(),
            "content_block_start" => {
                let content = message["content"].as_array_mut().unwrap();
                content.push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let block = &mut message["content"][at];
                let (key, piece) = match delta["type"].as_str().unwrap() {
                    "text_delta" => ("text", &delta["text"]),
                    "thinking_delta" => ("thinking", &delta["thinking"]),
                    "signature_delta" => ("signature", &delta["signature"]),
                    "input_json_delta" => ("json", &delta["partial_json"]),
                    other => panic!("{other}"),
                };
                let text = block[key].as_str().unwrap_or_default().to_owned();
                block[key] = json!(text + piece.as_str().unwrap());
            }
            "message_delta" => {
                message["stop_reason"] = delta["stop_reason"].clone();
                for (key, value) in event["usage"].as_object().unwrap() {
                    message["usage"][key] = value.clone();
                }
            }
            _ => {}
        }
    }
    message
}

fn check(case: &Recorded, found: &Answer) {
    let (name, message) = (&case.name, message(case));
    let blocks = message["content"].as_array().unwrap();
    let all = |kind: &str, key: &str| -> String {
        let blocks = blocks.iter().filter(|b| b["type"] == kind);
        blocks.map(|b| b[key].as_str().unwrap()).collect()
    };
    assert_eq!(found.text, all("text", "text"), "{name}");
    assert_eq!(found.thinking, all("thinking", "thinking"), "{name}");
    let calls: Vec<_> = blocks
        .iter()
        .filter(|b| b["type"] == "tool_use")
        .map(|b| {
            let input = match b["json"].as_str() {
                None => b["input"].clone(),
                Some("") => json!({}),
                Some(json) => serde_json::from_str(json).unwrap(),
            };
            (b["name"].as_str().unwrap().to_owned(), input)
        })
        .collect();
    assert_eq!(found.calls, calls, "{name}");
    assert_eq!(found.blocks.len(), blocks.len(), "{name}");
    for (block, wire) in found.blocks.iter().zip(blocks) {
        let state = block
            .state
            .as_ref()
            .map(|s| serde_json::from_str::<Value>(&s.data).unwrap());
        if wire["type"] == "thinking" {
            assert_eq!(state.unwrap()["signature"], wire["signature"], "{name}");
        } else if wire["type"] == "redacted_thinking" {
            assert_eq!(state.unwrap()["data"], wire["data"], "{name}");
        }
    }
    assert_eq!(
        found.raw.as_deref(),
        message["stop_reason"].as_str(),
        "{name}"
    );
    let reason = match found.raw.as_deref().unwrap() {
        "end_turn" => FinishReason::Stop,
        "tool_use" => FinishReason::ToolCalls,
        "max_tokens" => FinishReason::Length,
        "stop_sequence" => FinishReason::StopSequence,
        other => panic!("{other}"),
    };
    assert_eq!(found.reason, reason, "{name}");
    let usage = &message["usage"];
    for (counter, key) in [
        (found.usage.input_tokens, "input_tokens"),
        (found.usage.output_tokens, "output_tokens"),
        (found.usage.cache_read_tokens, "cache_read_input_tokens"),
        (
            found.usage.cache_write_tokens,
            "cache_creation_input_tokens",
        ),
    ] {
        assert_eq!(counter, usage[key].as_u64(), "{name} {key}");
    }
}

#[test]
fn pv_12_recorded_answers_mean_what_they_say_in_every_split() {
    for kind in ["stream", "whole"] {
        for case in recorded("anthropic-messages", kind) {
            let outcome =
                in_every_split::<MessagesDecoder>(CARRY, &case.content_type, case.body.as_bytes());
            assert_eq!(outcome.error, None, "{}", case.name);
            check(&case, &answer(&outcome.events));
        }
    }
}

#[test]
fn pv_5_a_recorded_stream_that_breaks_off_is_truncated() {
    for case in recorded("anthropic-messages", "stream") {
        let end = case.body.find("event: message_stop").unwrap();
        let ends = case.body.match_indices("\n\n").map(|(at, _)| at + 2);
        for at in ends.filter(|at| *at <= end) {
            let cut = &case.body.as_bytes()[..at];
            let outcome = decode::<MessagesDecoder>(CARRY, &case.content_type, [cut]);
            let class = outcome.error.map(|e| e.class);
            assert_eq!(class, Some(ErrorClass::Truncated), "{} {at}", case.name);
        }
    }
}

#[test]
fn pv_7_recorded_errors_are_classified() {
    for case in recorded("anthropic-messages", "error") {
        let error = Anthropic::classify_error(case.status, &[], case.body.as_bytes());
        let class = match case.status {
            400 => ErrorClass::InvalidRequest,
            401 => ErrorClass::Authentication,
            404 => ErrorClass::NotFound,
            other => panic!("{other}"),
        };
        assert_eq!(
            (error.class, error.retry),
            (class, Retry::Never),
            "{}",
            case.name
        );
        let body: Value = serde_json::from_str(&case.body).unwrap();
        assert_eq!(error.message, body["error"]["message"].as_str().unwrap());
        assert_eq!(error.request_id.as_deref(), body["request_id"].as_str());
    }
}
