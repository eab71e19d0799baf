//! Answers at the edges of the protocol, written from its documentation.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use sectile_plugin_openai_chat::ChatDecoder;
use sectile_sdk::provider::{
    BlockKind, CallInput, ErrorClass, Event, FinishReason, ProviderError, Retry,
};
use sectile_wire_testing::{Answer, answer, in_every_split};
use serde_json::{Value, json};

const CARRY: &str = r#"{"model": "deepseek-v4", "names": {"fs_read_1": "fs.read"}}"#;
const STREAM: &str = "text/event-stream";

fn outcome(body: &str) -> (Vec<Event>, Option<ProviderError>) {
    let outcome = in_every_split::<ChatDecoder>(CARRY, STREAM, body.as_bytes());
    (outcome.events, outcome.error)
}

fn read(body: &str) -> Answer {
    let (events, error) = outcome(body);
    assert_eq!(error, None, "{body}");
    answer(&events)
}

fn error(body: &str) -> ProviderError {
    outcome(body)
        .1
        .unwrap_or_else(|| panic!("no error: {body}"))
}

fn frame(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A chunk with one choice.
fn chunk(delta: &Value, finish: Option<&str>) -> String {
    frame(&json!({"id": "c", "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
}

fn said(text: &str) -> String {
    chunk(&json!({"content": text}), None)
}

fn stop() -> String {
    chunk(&json!({}), Some("stop")) + "data: [DONE]\n\n"
}

/// A stream of fragments of calls that ends with `finish`.
fn calls(fragments: &[Value], finish: &str) -> Answer {
    let fragments = fragments.iter();
    let chunks = fragments.map(|call| chunk(&json!({"tool_calls": [call]}), None));
    let end = chunk(&json!({}), Some(finish)) + "data: [DONE]\n\n";
    read(&(chunks.collect::<String>() + &end))
}

fn ids(answer: &Answer) -> Vec<&str> {
    let kinds = answer.blocks.iter().map(|block| &block.kind);
    let id = kinds.filter_map(|kind| match kind {
        BlockKind::ToolCall(call) => Some(call.id.as_str()),
        _ => None,
    });
    id.collect()
}

#[test]
fn pv_5_every_legal_form_of_a_stream_says_the_same() {
    let text = "gr\u{fc}n \u{2028}\u{1f600}";
    let plain = said(text) + &stop();
    for body in [
        plain.clone(),
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\r"),
        plain.replace("data: ", "data:"),
        format!("\u{feff}: hello\n\n{plain}"),
        plain.replace("data: {", ": OPENROUTER PROCESSING\n\ndata: {"),
        plain.replace("data: {", "event: message\nid: 7\ndata: {"),
        plain.replace("data: {", "data: null\n\ndata: {"),
        plain.replace("data: [DONE]\n\n", ""),
        plain.trim_end().to_owned(),
        plain.clone() + "data: {\"error\": \"late\"}\n\n",
        plain.replace("data: [DONE]\n\n", "data: [DONE]\n\ndata: [DONE]\n\n"),
    ] {
        let answer = read(&body);
        assert_eq!(answer.text, text, "{body}");
        assert_eq!(answer.reason, FinishReason::Stop);
        assert_eq!(answer.notices, Vec::<Value>::new(), "{body}");
    }
}

#[test]
fn pv_5_frames_without_choices_are_passed_over_and_broken_ones_noticed() {
    let prelude = json!({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]});
    let body = frame(&prelude) + &said("a") + "data: {\"cut\": \n\n" + &said("b") + &stop();
    let answer = read(&body);
    assert_eq!(answer.text, "ab");
    assert_eq!(answer.notices.len(), 1, "{:?}", answer.notices);
    let odd = frame(&json!({"queue": 3})) + &said("a") + &stop();
    assert_eq!(read(&odd).notices.len(), 1);
}

#[test]
fn pv_5_a_known_frame_with_a_broken_payload_fails() {
    for broken in [
        json!({"choices": {}}),
        json!({"choices": [1]}),
        json!({"choices": [{"delta": "x"}]}),
        json!({"choices": [{"delta": {"content": 7}}]}),
        json!({"choices": [{"delta": {"tool_calls": {}}}]}),
        json!({"choices": [{"delta": {"tool_calls": ["x"]}}]}),
    ] {
        let error = error(&(said("a") + &frame(&broken) + &stop()));
        assert_eq!(error.class, ErrorClass::Protocol, "{broken}");
    }
}

#[test]
fn pv_5_missing_deltas_null_choices_and_other_choices_are_legal() {
    let body = frame(&json!({"choices": [{"index": 0}]}))
        + &frame(&json!({"choices": null}))
        + &chunk(
            &json!({"role": null, "content": null, "tool_calls": null}),
            None,
        )
        + &said("a")
        + &frame(&json!({"choices": [{"index": 1, "delta": {"content": "other"}}]}))
        + &frame(&json!({"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]}))
        + &stop();
    let answer = read(&body);
    assert_eq!(
        (answer.text.as_str(), answer.reason),
        ("a", FinishReason::Stop)
    );
}

#[test]
fn pv_5_what_comes_with_and_after_the_reason_counts() {
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 2});
    let last = json!({"choices": [], "usage": usage});
    let body = chunk(&json!({"content": "a"}), Some("stop"))
        + &chunk(&json!({"content": "b"}), Some("stop"))
        + &frame(&last)
        + "data: [DONE]\n\n";
    let answer = read(&body);
    assert_eq!(answer.text, "ab");
    assert_eq!(answer.usage.input_tokens, Some(9));
    assert_eq!(answer.usage.cache_read_tokens, None);
}

#[test]
fn pv_5_usage_on_every_chunk_is_not_added_up() {
    let body: String = (1..=3)
        .map(|n| {
            frame(
                &json!({"choices": [{"index": 0, "delta": {"content": "a"}}],
                "usage": {"prompt_tokens": 5, "completion_tokens": n}}),
            )
        })
        .collect();
    let answer = read(&(body + &stop()));
    assert_eq!(answer.usage.output_tokens, Some(3));
    assert_eq!(answer.usage.input_tokens, Some(5));
    let groq = frame(&json!({"choices": [], "x_groq": {"usage": {"completion_tokens": 4}}}));
    assert_eq!(
        read(&(said("a") + &groq + &stop())).usage.output_tokens,
        Some(4)
    );
}

#[test]
fn pv_5_without_a_reason_or_an_end_the_answer_is_truncated() {
    for body in [
        String::new(),
        ": ping\n\n".to_owned(),
        said("a"),
        chunk(&json!({"content": "a"}), Some("")),
        "data: [DONE]\n\n".to_owned(),
        "data: {\"choices\": [{\"del".to_owned(),
    ] {
        let error = error(&body);
        assert_eq!(error.class, ErrorClass::Truncated, "{body}");
        assert_eq!(error.retry, Retry::Same);
    }
    // A service that never gives a reason ends its answer all the same.
    let answer = read(&(said("a") + "data: [DONE]\n\n"));
    assert_eq!((answer.reason, answer.raw), (FinishReason::Stop, None));
}

#[test]
fn pv_5_an_error_is_looked_for_before_choices_and_comes_once() {
    for (data, class) in [
        (
            json!({"error": {"message": "overloaded", "code": 502}, "choices": []}),
            ErrorClass::Server,
        ),
        (
            json!({"error": {"message": "x", "code": "context_length_exceeded"},
                   "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]}),
            ErrorClass::ContextOverflow,
        ),
        (json!({"error": "down"}), ErrorClass::Server),
        (
            json!({"object": "error", "message": "x is longer than the model's context length", "code": 400}),
            ErrorClass::ContextOverflow,
        ),
        (
            json!({"choices": [{"index": 0, "delta": {}, "error": {"message": "x", "code": 429}}]}),
            ErrorClass::RateLimited,
        ),
        (
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "insufficient_system_resource"}]}),
            ErrorClass::Overloaded,
        ),
        (
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]}),
            ErrorClass::Server,
        ),
    ] {
        let (events, error) = outcome(&(said("a") + &frame(&data) + "data: [DONE]\n\n"));
        assert_eq!(error.map(|e| e.class), Some(class), "{data}");
        assert_eq!(events, [Event::TextDelta((0, "a".to_owned()))], "{data}");
    }
    let named = "event: error\ndata: {\"error\": {\"message\": \"Failed to call a function\", \"code\": \"tool_use_failed\"}}\n\n";
    assert_eq!(error(named).retry, Retry::Same);
    let bare = said("a") + "{\"error\": {\"code\": 500, \"message\": \"x\"}}\n";
    assert_eq!(error(&bare).class, ErrorClass::Server);
}

#[test]
fn pv_7_a_document_where_a_stream_was_asked_for_is_read() {
    let body = json!({"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": "a", "reasoning_content": "t", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "fs_read_1", "arguments": "{\"p\": 1}"}}]}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    let answer = read(&format!("\n{body}\n"));
    assert_eq!(answer.text, "a");
    assert_eq!(answer.thinking, "t");
    assert_eq!(answer.calls, [("fs.read".to_owned(), json!({"p": 1}))]);
    assert_eq!(answer.reason, FinishReason::ToolCalls);
    for (body, class) in [
        (
            json!({"error": {"message": "Provider returned error", "code": 429}}),
            ErrorClass::RateLimited,
        ),
        (json!({"detail": "x"}), ErrorClass::Protocol),
        (json!({"choices": []}), ErrorClass::Protocol),
        (
            json!({"object": "response", "output": []}),
            ErrorClass::Protocol,
        ),
        (
            json!([{"error": {"code": 503, "message": "x"}}]),
            ErrorClass::Overloaded,
        ),
    ] {
        assert_eq!(error(&body.to_string()).class, class, "{body}");
    }
    let other = frame(&json!({"type": "response.created", "response": {}}));
    assert_eq!(error(&other).class, ErrorClass::Protocol);
}

#[test]
fn pv_6_fragments_find_their_call() {
    let f = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let a = || ("a".to_owned(), json!({"x": 1}));
    let b = || ("b".to_owned(), json!({"y": 2}));
    for (what, fragments, expected) in [
        (
            "pieces by index, the first of which is 1",
            vec![
                json!({"index": 1, "id": "i", "function": f("a", "")}),
                json!({"index": 2, "id": "j", "function": f("b", "{\"y\":")}),
                json!({"index": 1, "function": {"arguments": "{\"x\": 1}"}}),
                json!({"index": 2, "id": "", "function": {"name": null, "arguments": " 2}"}}),
            ],
            vec![a(), b()],
        ),
        (
            "all with index 0, told apart by id",
            vec![
                json!({"index": 0, "id": "i", "function": f("a", "{\"x\": 1}")}),
                json!({"index": 0, "id": "j", "function": f("b", "{\"y\": 2}")}),
            ],
            vec![a(), b()],
        ),
        (
            "all with index 0 and without ids",
            vec![
                json!({"index": 0, "function": f("a", "{\"x\": 1}")}),
                json!({"index": 0, "function": f("b", "{\"y\": 2}")}),
            ],
            vec![a(), b()],
        ),
        (
            "without an index",
            vec![
                json!({"id": "i", "function": f("a", "{\"x\"")}),
                json!({"function": {"arguments": ": 1}"}}),
                json!({"id": "j", "function": f("b", "{\"y\": 2}")}),
            ],
            vec![a(), b()],
        ),
        (
            "a name that comes late and again",
            vec![
                json!({"index": 0, "id": "i", "type": null, "function": {"arguments": "{\"x\""}}),
                json!({"index": 0, "function": f("a", "")}),
                json!({"index": 0, "function": f("a", ": 1}")}),
            ],
            vec![a()],
        ),
        (
            "arguments that are no text",
            vec![json!({"index": 0, "id": "i", "function": {"name": "a", "arguments": {"x": 1}}})],
            vec![a()],
        ),
        (
            "arguments that come again at the end",
            vec![
                json!({"index": 0, "id": "i", "function": f("a", "{\"x\": ")}),
                json!({"index": 0, "id": "i", "function": {"arguments": "1}"}}),
                json!({"index": 0, "id": "i", "function": f("a", "{\"x\": 1}")}),
            ],
            vec![a()],
        ),
        (
            "an id on every fragment",
            vec![
                json!({"index": 0, "id": "i", "function": f("a", "{\"x\": ")}),
                json!({"index": 0, "id": "i", "function": f("a", "1}")}),
            ],
            vec![a()],
        ),
        (
            "one id for two calls",
            vec![
                json!({"index": 0, "id": "i", "function": f("a", "{\"x\": 1}")}),
                json!({"index": 1, "id": "i", "function": f("b", "{\"y\": 2}")}),
            ],
            vec![a(), b()],
        ),
    ] {
        let answer = calls(&fragments, "tool_calls");
        assert_eq!(answer.calls, expected, "{what}");
        assert_eq!(answer.reason, FinishReason::ToolCalls, "{what}");
        let mut ids = ids(&answer);
        assert!(ids.iter().all(|id| !id.is_empty()), "{what}");
        ids.dedup();
        assert_eq!(ids.len(), expected.len(), "{what}: ids are not unique");
    }
}

#[test]
fn pv_6_no_arguments_are_an_empty_object() {
    for arguments in [json!(""), json!(null), json!("null"), json!({}), json!(" ")] {
        let call =
            json!({"index": 0, "id": "i", "function": {"name": "a", "arguments": arguments}});
        let answer = calls(&[call], "stop");
        assert_eq!(answer.calls, [("a".to_owned(), json!({}))], "{arguments}");
        assert_eq!(answer.reason, FinishReason::ToolCalls);
    }
}

#[test]
fn pv_6_a_cut_call_is_never_executable() {
    for (arguments, finish, reason) in [
        // What is there parses, and is still but the beginning.
        (
            "{\"command\": \"rm -r /tmp/a\"}",
            "length",
            FinishReason::Length,
        ),
        ("{\"command\": \"rm", "length", FinishReason::Length),
        ("", "length", FinishReason::Length),
        ("{}", "content_filter", FinishReason::ContentFilter),
        // The service hides that it was cut.
        ("{\"command\": \"rm", "tool_calls", FinishReason::Length),
        (
            "{command: 1}",
            "tool_calls",
            FinishReason::MalformedToolCall,
        ),
        ("{\"a\": 1}", "odd", FinishReason::Other),
    ] {
        let call =
            json!({"index": 0, "id": "i", "function": {"name": "a", "arguments": arguments}});
        let answer = calls(&[call], finish);
        assert_eq!(answer.reason, reason, "{arguments} {finish}");
        let BlockKind::ToolCall(call) = &answer.blocks[0].kind else {
            panic!("{:?}", answer.blocks);
        };
        assert_eq!(call.input, CallInput::Raw(arguments.to_owned()));
    }
}

#[test]
fn pv_6_a_call_without_a_name_is_none() {
    let answer = calls(
        &[json!({"index": 0, "id": "i", "function": {"arguments": "{}"}})],
        "stop",
    );
    assert_eq!(answer.reason, FinishReason::MalformedToolCall);
    assert_eq!((answer.calls.len(), answer.notices.len()), (0, 1));
}

#[test]
fn pv_2_thinking_keeps_its_field_and_its_pieces() {
    let state = |answer: &Answer, at: usize| -> Value {
        let state = answer.blocks[at].state.as_ref().unwrap();
        assert_eq!(state.protocol, "openai-chat");
        assert_eq!(state.model, "deepseek-v4");
        serde_json::from_str(&state.data).unwrap()
    };
    for field in ["reasoning_content", "reasoning"] {
        let body = chunk(&json!({"content": "", field: "a"}), None)
            + &chunk(&json!({"content": null, field: "b"}), None)
            + &said("c")
            + &stop();
        let answer = read(&body);
        assert_eq!(
            (answer.thinking.as_str(), answer.text.as_str()),
            ("ab", "c")
        );
        assert_eq!(answer.blocks.len(), 2);
        assert!(state(&answer, 0).to_string().contains(field));
    }
    // Text and pieces say the same; an encrypted piece says nothing to people.
    let pieces = json!([{"type": "reasoning.text", "text": "a", "index": 0}]);
    let secret = json!([{"type": "reasoning.encrypted", "data": "s3", "id": "r", "index": 1}]);
    let body = chunk(
        &json!({"reasoning": "a", "reasoning_details": pieces}),
        None,
    ) + &chunk(
        &json!({"reasoning": null, "reasoning_details": secret}),
        None,
    ) + &said("c")
        + &stop();
    let answer = read(&body);
    assert_eq!(answer.thinking, "a");
    let kept = state(&answer, 0).to_string();
    assert!(
        kept.contains("s3") && kept.contains("reasoning.text"),
        "{kept}"
    );
    // Pieces alone.
    let body = chunk(&json!({"reasoning_details": secret}), None) + &said("c") + &stop();
    let answer = read(&body);
    assert_eq!((answer.thinking.as_str(), answer.blocks.len()), ("", 2));
    assert!(state(&answer, 0).to_string().contains("s3"));
}

#[test]
fn pv_2_content_that_is_a_list_is_text_and_thinking() {
    let think = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}]);
    let text = json!([{"type": "text", "text": "a"}]);
    let body = chunk(&json!({"content": think}), None)
        + &chunk(&json!({"content": text}), None)
        + &said("b")
        + &stop();
    let answer = read(&body);
    assert_eq!(
        (answer.thinking.as_str(), answer.text.as_str()),
        ("t", "ab")
    );
}

#[test]
fn pv_5_an_answer_of_thinking_alone_is_one() {
    let answer = read(&(chunk(&json!({"reasoning_content": "t"}), None) + &stop()));
    assert_eq!(
        (answer.thinking.as_str(), answer.reason),
        ("t", FinishReason::Stop)
    );
}

#[test]
fn pv_5_a_refusal_is_told_from_text() {
    let body = chunk(&json!({"content": null, "refusal": "I "}), None)
        + &chunk(&json!({"refusal": "won't"}), None)
        + &stop();
    let answer = read(&body);
    assert_eq!(answer.refusal, "I won't");
    assert_eq!(
        (answer.text.as_str(), answer.reason),
        ("", FinishReason::Refusal)
    );
}

#[test]
fn pv_5_a_reason_that_says_less_than_all_came_holds() {
    for (first, second) in [("stop", "length"), ("length", "stop")] {
        let body = chunk(&json!({"content": "a"}), Some(first))
            + &chunk(&json!({}), Some(second))
            + "data: [DONE]\n\n";
        assert_eq!(read(&body).reason, FinishReason::Length);
    }
    for (said, reason) in [
        ("model_length", FinishReason::Length),
        ("eos", FinishReason::Stop),
        ("function_call", FinishReason::Stop),
        ("content_filter", FinishReason::ContentFilter),
    ] {
        let body = chunk(&json!({"content": "a"}), Some(said)) + "data: [DONE]\n\n";
        let answer = read(&body);
        assert_eq!((answer.reason, answer.raw.as_deref()), (reason, Some(said)));
    }
}

#[test]
fn pv_6_arguments_are_bounded() {
    let piece = "x".repeat(1 << 20);
    let call = json!({"index": 0, "id": "i", "function": {"name": "a", "arguments": piece}});
    let fragment = chunk(&json!({"tool_calls": [call]}), None);
    let body = fragment.repeat(17) + &stop();
    let outcome = sectile_wire_testing::decode::<ChatDecoder>(CARRY, STREAM, [body.as_bytes()]);
    assert_eq!(outcome.error.unwrap().class, ErrorClass::Protocol);
}
