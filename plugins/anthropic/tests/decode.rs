//! Answers with the traps that services are known to set.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use sectile_plugin_anthropic::{Anthropic, MessagesDecoder};
use sectile_sdk::provider::{
    BlockKind, CallInput, ErrorClass, Event, FinishReason, Provider, Role,
};
use sectile_wire_testing::{Answer, Outcome, answer, in_every_split, message, request, text};
use serde_json::{Value, json};

const CARRY: &str = r#"{"model": "claude-sonnet-4-6", "names": {"fs_read": "fs.read"}}"#;

fn outcome(body: &str) -> Outcome {
    in_every_split::<MessagesDecoder>(CARRY, "text/event-stream", body.as_bytes())
}

fn stream(events: &[Value]) -> String {
    let frame = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    events.iter().map(frame).collect()
}

fn start() -> Value {
    let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 1});
    json!({"type": "message_start", "message": {"id": "m", "model": "claude-sonnet-4-6", "content": [], "usage": usage}})
}

fn block(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
}

fn call(index: u64, pieces: &[&str]) -> Vec<Value> {
    let use_ =
        json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": "fs_read", "input": {}});
    let mut events = vec![block(index, &use_)];
    for piece in pieces {
        events.push(delta(
            index,
            &json!({"type": "input_json_delta", "partial_json": piece}),
        ));
    }
    events
}

fn said(events: &[&[Value]]) -> Answer {
    let found = outcome(&stream(&events.concat()));
    assert_eq!(found.error, None);
    answer(&found.events)
}

fn class(body: &str) -> Option<ErrorClass> {
    outcome(body).error.map(|error| error.class)
}

#[test]
fn pv_6_a_call_is_final_when_the_answer_shows_that_it_was_not_cut() {
    let raw = |text: &str| json!(text);
    for (pieces, ended, reason, input, finish) in [
        (
            &["{\"p\": \"\\u00", "e9\"}"][..],
            true,
            "tool_use",
            json!({"p": "é"}),
            FinishReason::ToolCalls,
        ),
        (&[""], true, "tool_use", json!({}), FinishReason::ToolCalls),
        (&[], true, "tool_use", json!({}), FinishReason::ToolCalls),
        (&[], true, "end_turn", json!({}), FinishReason::ToolCalls),
        (&[], true, "max_tokens", raw(""), FinishReason::Length),
        (
            &["{\"a\": 1"],
            true,
            "max_tokens",
            raw("{\"a\": 1"),
            FinishReason::Length,
        ),
        (
            &["{\"a\": 1"],
            true,
            "tool_use",
            raw("{\"a\": 1"),
            FinishReason::Length,
        ),
        (
            &["{a}"],
            true,
            "tool_use",
            raw("{a}"),
            FinishReason::MalformedToolCall,
        ),
        (
            &["{\"a\": 1}"],
            false,
            "max_tokens",
            raw("{\"a\": 1}"),
            FinishReason::Length,
        ),
        (
            &["{\"a\": 1}"],
            false,
            "refusal",
            raw("{\"a\": 1}"),
            FinishReason::Refusal,
        ),
        (
            &["{\"a\": 1}"],
            false,
            "tool_use",
            json!({"a": 1}),
            FinishReason::ToolCalls,
        ),
    ] {
        let stops = if ended { vec![stop(0)] } else { Vec::new() };
        let found = said(&[&[start()], &call(0, pieces), &stops, &end(reason)]);
        assert_eq!(
            found.calls,
            [("fs.read".to_owned(), input)],
            "{pieces:?} {reason}"
        );
        assert_eq!(found.reason, finish, "{pieces:?} {reason}");
    }
}

#[test]
fn pv_6_of_several_calls_only_the_last_can_be_cut() {
    let found = said(&[
        &[start()],
        &call(0, &[]),
        &[stop(0)],
        &call(1, &[]),
        &[stop(1)],
        &end("max_tokens"),
    ]);
    assert_eq!(found.calls[0].1, json!({}));
    assert_eq!(found.calls[1].1, json!(""));
}

#[test]
fn pv_6_arguments_that_come_at_the_start_are_taken() {
    for block_at_start in [
        json!({"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}),
        json!({"type": "tool_use", "name": "n", "input": {"a": 1}}),
    ] {
        let found = said(&[
            &[start(), block(0, &block_at_start), stop(0)],
            &end("tool_use"),
        ]);
        assert_eq!(found.calls, [("n".to_owned(), json!({"a": 1}))]);
    }
}

#[test]
fn pv_2_signatures_citations_and_foreign_parts_are_kept() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let found = said(&[
        &[
            start(),
            block(
                0,
                &json!({"type": "thinking", "thinking": "", "signature": ""}),
            ),
            delta(0, &json!({"type": "signature_delta", "signature": "sig"})),
            stop(0),
            block(1, &search),
            delta(
                1,
                &json!({"type": "input_json_delta", "partial_json": "{\"query\": \"x\"}"}),
            ),
            stop(1),
            block(2, &json!({"type": "text", "text": ""})),
            delta(2, &json!({"type": "text_delta", "text": "found"})),
            delta(
                2,
                &json!({"type": "citations_delta", "citation": {"url": "u"}}),
            ),
            delta(2, &json!({"type": "sparkle_delta", "x": 1})),
            stop(2),
            block(3, &json!({"type": "compaction", "content": null})),
            delta(3, &json!({"type": "compaction_delta", "content": "sum"})),
            delta(3, &json!({"type": "compaction_delta", "content": "mary"})),
            stop(3),
        ],
        &end("end_turn"),
    ]);
    let state = |n: usize| -> Value {
        serde_json::from_str(&found.blocks[n].state.as_ref().unwrap().data).unwrap()
    };
    assert_eq!(state(0), json!({"signature": "sig"}));
    assert_eq!(state(2), json!({"citations": [{"url": "u"}]}));
    let payload = |n: usize| -> Value {
        match &found.blocks[n].kind {
            BlockKind::Opaque(opaque) => serde_json::from_str(&opaque.payload).unwrap(),
            _ => Value::Null,
        }
    };
    assert_eq!(payload(1)["input"], json!({"query": "x"}));
    assert_eq!(payload(3)["content"], "summary");
    assert_eq!(found.notices[0]["type"], "unknown_delta");
    // What was decoded is encoded again as it was.
    let messages = vec![
        message(Role::User, vec![text("q")]),
        message(Role::Assistant, found.blocks.clone()),
        message(Role::User, vec![text("more")]),
    ];
    let encoded = Anthropic::encode(request("claude-sonnet-4-6", messages)).unwrap();
    let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
    let content = &body["messages"][1]["content"];
    assert_eq!(
        content[0],
        json!({"type": "thinking", "thinking": "", "signature": "sig"})
    );
    assert_eq!(content[1]["input"], json!({"query": "x"}));
    assert_eq!(content[2]["citations"], json!([{"url": "u"}]));
    assert_eq!(
        content[3],
        json!({"type": "compaction", "content": "summary"})
    );
}

#[test]
fn pv_5_the_forms_of_frames_change_nothing() {
    let plain = stream(
        &[
            vec![start()],
            call(0, &["{}"]),
            vec![stop(0)],
            end("tool_use").to_vec(),
        ]
        .concat(),
    );
    let expected = answer(&outcome(&plain).events);
    let nameless = plain.replace("event: ", ": was ");
    for body in [
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        format!("\u{feff}{plain}"),
        nameless,
        plain.replace("\n\n", " \n: ping\n\n"),
        plain.trim_end().to_owned(),
        format!("{plain}data: [DONE]\n\n"),
        plain.replace("{\"type\"", "{  \"type\""),
    ] {
        assert_eq!(answer(&outcome(&body).events), expected, "{body}");
    }
}

#[test]
fn pv_5_what_is_unknown_or_corrupt_is_noticed_and_the_rest_is_read() {
    let body = [
        stream(&[
            start(),
            json!({"type": "ping"}),
            json!({"type": "sparkle", "x": 1}),
        ]),
        "data: {\"type\": \n\ndata: null\n\n".to_owned(),
        stream(&[start()]),
        stream(&[
            block(0, &json!({"type": "text", "text": "a"})),
            stop(0),
            stop(0),
        ]),
        stream(&end("end_turn")),
        stream(&end("end_turn")),
    ];
    let found = answer(&outcome(&body.concat()).events);
    let kinds: Vec<_> = found
        .notices
        .iter()
        .map(|n| n["type"].as_str().unwrap())
        .collect();
    let expected = [
        "ping",
        "unknown_event",
        "corrupt_frame",
        "unknown_event",
        "repeated_start",
        "repeated_stop",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(found.text, "a");
}

#[test]
fn pv_5_a_known_event_with_a_broken_payload_fails() {
    let text = json!({"type": "text", "text": ""});
    for events in [
        vec![json!({"type": "content_block_start", "index": 0})],
        vec![json!({"type": "content_block_start", "content_block": text})],
        vec![block(0, &json!({"text": "no type"}))],
        vec![block(
            0,
            &json!({"type": "tool_use", "id": "t", "input": {}}),
        )],
        vec![delta(0, &json!({"type": "text_delta", "text": "not open"}))],
        vec![
            block(0, &text),
            delta(0, &json!({"type": "text_delta", "text": 7})),
        ],
        vec![json!({"type": "message_delta"})],
        vec![json!({"type": "message_start"})],
    ] {
        let body = stream(&[events.clone(), end("end_turn").to_vec()].concat());
        assert_eq!(class(&body), Some(ErrorClass::Protocol), "{events:?}");
    }
}

#[test]
fn pv_7_an_error_in_the_midst_ends_the_answer() {
    let error = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "m"}});
    let text = [start(), block(0, &json!({"type": "text", "text": "a"}))];
    for (kind, expected) in [
        ("overloaded_error", ErrorClass::Overloaded),
        ("api_error", ErrorClass::Server),
        ("rate_limit_error", ErrorClass::RateLimited),
    ] {
        let body = stream(&[&text[..], &[error(kind)], &end("end_turn")].concat());
        let found = outcome(&body);
        assert_eq!(found.error.map(|e| e.class), Some(expected));
        assert!(
            found
                .events
                .contains(&Event::TextDelta((0, "a".to_owned())))
        );
        assert_eq!(class(&stream(&[error(kind)])), Some(expected));
    }
    assert_eq!(
        class("data: {\"error\": {\"message\": \"m\"}}\n\n"),
        Some(ErrorClass::Server)
    );
    assert_eq!(class("{\"error\": \"m\"}"), Some(ErrorClass::Server));
    assert_eq!(
        class(&error("overloaded_error").to_string()),
        Some(ErrorClass::Overloaded)
    );
}

#[test]
fn pv_7_an_answer_that_is_none_says_what_it_is() {
    let found = outcome("data: {\"choices\": [], \"object\": \"chat.completion.chunk\"}\n\n")
        .error
        .unwrap();
    assert_eq!(found.class, ErrorClass::Protocol);
    assert!(found.message.contains("Chat Completions"));
    assert_eq!(class("{\"id\": 1}"), Some(ErrorClass::Protocol));
    assert_eq!(class("{\"content\": ["), Some(ErrorClass::Truncated));
    assert_eq!(
        class("<html>Bad gateway</html>"),
        Some(ErrorClass::Truncated)
    );
    assert_eq!(class(""), Some(ErrorClass::Truncated));
}

#[test]
fn pv_9_counters_are_totals_and_what_is_unknown_stays_so() {
    let found = said(&[&[start()], &end("end_turn")]);
    let usage = &found.usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(10), Some(7))
    );
    assert_eq!(
        (usage.cache_read_tokens, usage.cache_write_tokens),
        (Some(3), Some(2))
    );
    assert_eq!(usage.reasoning_tokens, None);
    let counted = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
        "usage": {"input_tokens": 0, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}});
    let found = said(&[&[start(), counted, json!({"type": "message_stop"})]]);
    assert_eq!(found.usage.input_tokens, Some(10));
    assert_eq!(
        (found.usage.output_tokens, found.usage.reasoning_tokens),
        (Some(9), Some(4))
    );
}

#[test]
fn pv_5_every_reason_has_a_meaning() {
    for (said_reason, reason) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::StopSequence),
        ("max_tokens", FinishReason::Length),
        ("pause_turn", FinishReason::Paused),
        ("refusal", FinishReason::Refusal),
        ("model_context_window_exceeded", FinishReason::ContextFull),
        ("new_one", FinishReason::Other),
    ] {
        let found = said(&[&[start()], &end(said_reason)]);
        assert_eq!(
            (found.reason, found.raw.as_deref()),
            (reason, Some(said_reason))
        );
        let whole = json!({"type": "message", "content": [], "stop_reason": said_reason});
        let found = answer(&outcome(&whole.to_string()).events);
        assert_eq!(found.reason, reason);
    }
}

#[test]
fn pv_5_a_carry_that_is_none_does_no_harm() {
    let body = stream(
        &[
            vec![start()],
            call(0, &["{}"]),
            vec![stop(0)],
            end("tool_use").to_vec(),
        ]
        .concat(),
    );
    let found = in_every_split::<MessagesDecoder>("nonsense", "", body.as_bytes());
    let found = answer(&found.events);
    assert_eq!(found.calls, [("fs_read".to_owned(), json!({}))]);
    let input = match &found.blocks[0].kind {
        BlockKind::ToolCall(call) => call.input.clone(),
        _ => CallInput::Raw(String::new()),
    };
    assert_eq!(input, CallInput::Parsed("{}".to_owned()));
}
