//! Requests as the services want them: known traps one by one and dialect by
//! dialect, then any conversation against the rules.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod rules;

use proptest::prelude::*;
use sectile_plugin_openai_chat::{ChatDecoder, OpenAiChat};
use sectile_sdk::provider::{
    Block, BlockKind, CallInput, DataBlock, DataSource, DataSourceInline, Diagnostic,
    DiagnosticAction, Encoded, Provider, ProviderState, Request, ResultContent, ResultStatus, Role,
    SystemPart, ThinkingBlock, ToolCallBlock, ToolChoice, ToolResultBlock,
};
use sectile_wire_testing::{answer, block, decode, message, request, requests, text, tool};
use serde_json::{Value, json};

const DIALECTS: [&str; 8] = [
    "openai",
    "deepseek",
    "qwen",
    "mistral",
    "ollama",
    "llama-cpp",
    "vllm",
    "openrouter",
];
const MODELS: &[&str] = &["gpt-4.1", "gpt-5.6", "o3", "o1-mini", "deepseek-v4", "x/y"];
const STATES: &[&str] = &[
    "{\"field\": \"reasoning_content\"}",
    "{\"field\": \"reasoning\", \"details\": [{\"type\": \"reasoning.encrypted\", \"data\": \"s\"}]}",
    "{\"field\": \"content\"}",
    "{\"extra_content\": {\"google\": {}}}",
    "{}",
    "[]",
    "7",
];

fn encoded(request: Request, extra: &Value) -> Encoded {
    let extra = extra.to_string();
    OpenAiChat::encode(Request { extra, ..request }).unwrap()
}

/// The body in a dialect, and what was not taken as it was.
fn body(request: Request, dialect: &str) -> (Value, Vec<Diagnostic>) {
    let asked = request.clone();
    let encoded = encoded(request, &json!({"dialect": dialect}));
    let body = serde_json::from_slice(&encoded.request.body).unwrap();
    rules::check(dialect, &body, &asked);
    (body, encoded.diagnostics)
}

fn hello(model: &str) -> Request {
    request(model, vec![message(Role::User, vec![text("hello")])])
}

fn call(id: &str, input: &str) -> Block {
    block(BlockKind::ToolCall(ToolCallBlock {
        id: id.to_owned(),
        name: "fs.read".to_owned(),
        input: CallInput::Parsed(input.to_owned()),
    }))
}

fn result(id: &str, status: ResultStatus, content: Vec<ResultContent>) -> Block {
    block(BlockKind::ToolResult(ToolResultBlock {
        call_id: id.to_owned(),
        name: "fs.read".to_owned(),
        status,
        content,
    }))
}

fn said(text: &str) -> Vec<ResultContent> {
    vec![ResultContent::Text(text.to_owned())]
}

fn image() -> DataBlock {
    DataBlock {
        source: DataSource::Inline(DataSourceInline {
            media_type: "image/png".to_owned(),
            bytes: vec![1, 2, 3],
        }),
        name: Some("a.png".to_owned()),
    }
}

fn thinking(text: &str, protocol: &str, model: &str, data: &Value) -> Block {
    Block {
        kind: BlockKind::Thinking(ThinkingBlock {
            text: (!text.is_empty()).then(|| text.to_owned()),
            summary: Vec::new(),
            redacted: text.is_empty(),
        }),
        state: Some(ProviderState {
            protocol: protocol.to_owned(),
            model: model.to_owned(),
            data: data.to_string(),
        }),
    }
}

/// A user asks, the model calls twice, both are answered, the user thanks.
fn with_calls(model: &str, before: Vec<Block>) -> Request {
    let calls = vec![call("call_1.x", "{\"b\": 1, \"a\": 2}"), call("2", "null")];
    let results = |id, status, content| message(Role::Tool, vec![result(id, status, content)]);
    request(
        model,
        vec![
            message(Role::User, vec![text("read")]),
            message(Role::Assistant, [before, calls].concat()),
            results("call_1.x", ResultStatus::Success, said("x")),
            results("2", ResultStatus::Error, said("no such file")),
            message(Role::User, vec![text("thanks")]),
        ],
    )
}

#[test]
fn the_request_goes_to_the_path_with_a_slot_for_the_key() {
    let plain = encoded(hello("gpt-4.1"), &json!({})).request;
    assert_eq!(
        (plain.method.as_str(), plain.path.as_str()),
        ("POST", "/chat/completions")
    );
    let key = plain
        .headers
        .iter()
        .find(|h| h.name == "authorization")
        .unwrap();
    assert_eq!(key.value, "Bearer {secret:api-key}");
    let extra = json!({"path": "/x", "seed": 7, "model": "other", "version": "1"});
    let encoded = encoded(hello("gpt-4.1"), &extra);
    assert_eq!(encoded.request.path, "/x");
    let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
    assert_eq!(
        (&body["seed"], &body["model"]),
        (&json!(7), &json!("gpt-4.1"))
    );
    assert_eq!(body.get("version"), None);
    assert_eq!(encoded.diagnostics.len(), 1);
    let extra = json!({"dialect": {"preset": "vllm", "images": 1}}).to_string();
    let request = Request {
        extra,
        ..hello("m")
    };
    assert!(
        OpenAiChat::encode(request)
            .unwrap_err()
            .message
            .contains("images")
    );
}

#[test]
fn pv_3_calls_and_results_are_printed_in_pairs_and_in_order() {
    let (body, _) = body(with_calls("gpt-4.1", vec![text("I read.")]), "openai");
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
    let calls = &messages[1]["tool_calls"];
    assert_eq!(messages[1]["content"], "I read.");
    // Key order is the model's own: a prompt cache sees bytes.
    assert_eq!(calls[0]["function"]["arguments"], "{\"b\": 1, \"a\": 2}");
    assert_eq!(calls[1]["function"]["arguments"], "{}");
    assert_eq!(messages[2]["tool_call_id"], calls[0]["id"]);
    assert_eq!(messages[3]["tool_call_id"], calls[1]["id"]);
    assert_eq!(messages[2]["content"], "x");
    assert!(
        messages[3]["content"]
            .as_str()
            .unwrap()
            .contains("no such file")
    );
}

#[test]
fn pv_3_a_message_of_calls_alone_has_the_content_that_its_service_wants() {
    for (dialect, content) in [
        ("openai", json!(null)),
        ("deepseek", json!("")),
        ("qwen", json!("")),
        ("mistral", json!("")),
        ("openrouter", json!(null)),
    ] {
        let (body, _) = body(with_calls("m", vec![]), dialect);
        assert_eq!(
            body["messages"][1].get("content"),
            Some(&content),
            "{dialect}"
        );
    }
    let extra = json!({"dialect": {"preset": "vllm", "empty_content": "empty"}});
    let encoded = encoded(with_calls("m", vec![]), &extra);
    let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
    assert_eq!(body["messages"][1]["content"], "");
}

#[test]
fn pv_3_names_are_mapped_and_come_back() {
    let request = Request {
        tools: vec![tool("fs.read", "{}")],
        tool_choice: ToolChoice::Named("fs.read".to_owned()),
        ..hello("gpt-4.1")
    };
    let encoded = encoded(request, &json!({}));
    let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
    let name = body["tools"][0]["function"]["name"].as_str().unwrap();
    assert_ne!(name, "fs.read");
    assert_eq!(body["tool_choice"]["function"]["name"], name);
    let action = |d: &Diagnostic| d.action == DiagnosticAction::Renamed;
    assert!(encoded.diagnostics.iter().any(action));
    let call = json!({"id": "1", "function": {"name": name, "arguments": "{}"}});
    let whole = json!({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "stop"}]});
    let whole = whole.to_string();
    let outcome = decode::<ChatDecoder>(&encoded.carry, "application/json", [whole.as_bytes()]);
    assert_eq!(answer(&outcome.events).calls[0].0, "fs.read");
}

#[test]
fn pv_3_what_a_tool_shows_comes_from_the_user_after_all_results() {
    let shown = vec![ResultContent::Data(image())];
    let request = request(
        "gpt-4.1",
        vec![
            message(Role::User, vec![text("look")]),
            message(Role::Assistant, vec![call("1", "{}"), call("2", "{}")]),
            message(Role::Tool, vec![result("1", ResultStatus::Success, shown)]),
            message(Role::Tool, vec![result("2", ResultStatus::Success, vec![])]),
        ],
    );
    let (body, notes) = body(request.clone(), "openai");
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 5);
    assert_eq!(messages[3]["content"], "(no output)");
    assert_eq!(messages[4]["role"], "user");
    let url = messages[4]["content"].to_string();
    assert!(url.contains("data:image/png;base64,AQID"), "{url}");
    assert!(notes.iter().any(|d| d.action == DiagnosticAction::Moved));
    // Where no image is taken, a note stands in its place.
    let (body, notes) = self::body(request, "deepseek");
    assert_eq!(body["messages"].as_array().unwrap().len(), 4);
    assert!(
        body["messages"][2]["content"]
            .as_str()
            .unwrap()
            .contains("a.png")
    );
    assert!(
        notes
            .iter()
            .any(|d| d.action == DiagnosticAction::Approximated)
    );
}

#[test]
fn pv_2_reasoning_goes_back_as_it_came_to_its_own_family_alone() {
    let own = json!({"field": "reasoning_content"});
    let details = json!([{"type": "reasoning.encrypted", "data": "s", "index": 0}]);
    let pieces = json!({"details": details});
    let turn = |block| with_calls("deepseek-v4", vec![block]);
    let assistant = |request, dialect| body(request, dialect).0["messages"][1].clone();

    let told = thinking("deep", "openai-chat", "deepseek-v4-flash", &own);
    let found = assistant(turn(told.clone()), "deepseek");
    assert_eq!(found["reasoning_content"], "deep");
    let secret = thinking("", "openai-chat", "deepseek-v4", &pieces);
    let found = assistant(turn(secret), "openrouter");
    assert_eq!(found["reasoning_details"], details);

    for foreign in [
        thinking("deep", "anthropic-messages", "deepseek-v4", &own),
        thinking("deep", "openai-chat", "gpt-5", &own),
    ] {
        let (body, notes) = body(turn(foreign), "openai");
        assert!(!body.to_string().contains("deep\""), "{body}");
        assert!(notes.iter().any(|d| d.action == DiagnosticAction::Dropped));
    }
    // DeepSeek wants reasoning with calls, be it empty.
    let foreign = thinking("deep", "openai-chat", "gpt-5", &own);
    assert_eq!(
        assistant(turn(foreign), "deepseek")["reasoning_content"],
        ""
    );
    let extra = json!({"dialect": {"preset": "vllm", "reasoning": "none"}});
    let encoded = encoded(turn(told), &extra);
    assert!(!String::from_utf8_lossy(&encoded.request.body).contains("deep\""));
}

#[test]
fn pv_2_what_was_decoded_goes_back_as_it_came() {
    let extra_content = json!({"google": {"thought_signature": "sig"}});
    let call = json!({"index": 0, "id": "1", "extra_content": extra_content,
                      "function": {"name": "a", "arguments": "{}"}});
    let pieces = [
        json!({"reasoning": "a", "reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]}),
        json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "s"}]}),
        json!({"content": "b"}),
        json!({"tool_calls": [call]}),
    ];
    let frames = pieces.iter().map(|delta| {
        let chunk = json!({"choices": [{"index": 0, "delta": delta}]});
        format!("data: {chunk}\n\n")
    });
    let stream = frames.collect::<String>() + "data: [DONE]\n\n";
    let carry = json!({"model": "google/gemini-3", "names": {}}).to_string();
    let outcome = decode::<ChatDecoder>(&carry, "text/event-stream", [stream.as_bytes()]);
    let blocks = answer(&outcome.events).blocks;
    let history = vec![
        message(Role::User, vec![text("hello")]),
        message(Role::Assistant, blocks),
    ];
    let (body, _) = body(request("google/gemini-3", history), "openrouter");
    let assistant = &body["messages"][1];
    assert_eq!(assistant["content"], "b");
    assert_eq!(assistant["reasoning"], "a");
    let expected = json!([{"type": "reasoning.text", "text": "a", "index": 0, "signature": "s"}]);
    assert_eq!(assistant["reasoning_details"], expected);
    assert_eq!(assistant["tool_calls"][0]["extra_content"], extra_content);
}

#[test]
fn pv_10_marks_go_where_the_service_wants_them_and_at_most_four() {
    let asked = |model| {
        let mut messages = hello(model).messages;
        for n in 0..6 {
            messages.push(message(Role::Assistant, vec![text("a")]));
            messages.push(message(Role::User, vec![text(&format!("u{n}"))]));
        }
        for message in &mut messages {
            message.cache_hint = message.role == Role::User;
        }
        Request {
            system: vec![SystemPart {
                key: "k".to_owned(),
                content: "be brief".to_owned(),
                cache_hint: true,
            }],
            cache_key: Some("key".to_owned()),
            ..request(model, messages)
        }
    };
    for (model, dialect, key) in [
        ("gpt-5.6", "openai", "prompt_cache_breakpoint"),
        ("anthropic/claude-sonnet-5", "openrouter", "cache_control"),
    ] {
        let (body, notes) = body(asked(model), dialect);
        let messages = body["messages"].as_array().unwrap();
        let marked = messages.iter().map(|m| m["content"][0].get(key).is_some());
        let at: Vec<_> = (0..)
            .zip(marked)
            .filter(|(_, is)| *is)
            .map(|(n, _)| n)
            .collect();
        assert_eq!(at, [0, 9, 11, 13], "{dialect}");
        assert!(notes.iter().any(|d| d.field == "cache_hint"));
        let grouped = dialect == "openai";
        assert_eq!(body.get("prompt_cache_key").is_some(), grouped);
        assert_eq!(notes.iter().any(|d| d.field == "cache_key"), !grouped);
    }
    let (body, _) = body(asked("gpt-4.1"), "openai");
    assert_eq!(body["messages"][0]["content"], "be brief");
}

#[test]
fn pv_3_roles_are_those_that_the_service_knows() {
    let asked = |model| Request {
        system: vec![SystemPart {
            key: "k".to_owned(),
            content: "be brief".to_owned(),
            cache_hint: false,
        }],
        ..hello(model)
    };
    for (dialect, model, role) in [
        ("openai", "gpt-5", "developer"),
        ("openai", "gpt-4.1", "system"),
        ("openai", "o1-mini", "user"),
        ("vllm", "gpt-5", "system"),
    ] {
        let (body, _) = body(asked(model), dialect);
        assert_eq!(body["messages"][0]["role"], role, "{dialect} {model}");
    }
    let (body, _) = body(with_calls("m", vec![]), "mistral");
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["user", "assistant", "tool", "tool", "assistant", "user"]
    );
    assert_eq!(
        messages[1]["tool_calls"][0]["id"].as_str().unwrap().len(),
        9
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn pv_3_every_request_is_valid_in_every_dialect(
        request in requests(MODELS, "openai-chat", STATES),
        dialect in prop::sample::select(&DIALECTS[..]),
    ) {
        let request = Request {
            extra: json!({"dialect": dialect}).to_string(),
            ..request
        };
        let encoded = OpenAiChat::encode(request.clone()).unwrap();
        let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
        rules::check(dialect, &body, &request);
        // The same request gives the same bytes: prompt caches depend on it.
        let again = OpenAiChat::encode(request).unwrap();
        prop_assert_eq!(again.request.body, encoded.request.body);
        prop_assert_eq!(again.carry, encoded.carry);
    }
}
