//! Requests as the protocol wants them: known traps one by one, then any
//! conversation against the protocol's rules.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod rules;

use proptest::prelude::*;
use sectile_plugin_anthropic::Anthropic;
use sectile_sdk::provider::{
    Block, BlockKind, CallInput, DataBlock, DataSource, DataSourceInline, Diagnostic,
    DiagnosticAction, Encoded, Message, Provider, ProviderState, Request, ResultContent,
    ResultStatus, Role, SystemPart, Thinking, ThinkingBlock, ToolCallBlock, ToolChoice,
    ToolResultBlock,
};
use sectile_wire_testing::{block, message, request, requests, text, tool};
use serde_json::{Value, json};

const MODEL: &str = "claude-sonnet-4-5";

fn encode(request: Request) -> (Value, Encoded) {
    let encoded = Anthropic::encode(request).unwrap();
    let body: Value = serde_json::from_slice(&encoded.request.body).unwrap();
    rules::check(&body, &encoded);
    (body, encoded)
}

fn said(encoded: &Encoded, field: &str, action: DiagnosticAction) -> bool {
    let is_it = |d: &Diagnostic| d.field == field && d.action == action;
    encoded.diagnostics.iter().any(is_it)
}

fn call(id: &str, name: &str, input: &str) -> Block {
    block(BlockKind::ToolCall(ToolCallBlock {
        id: id.to_owned(),
        name: name.to_owned(),
        input: CallInput::Parsed(input.to_owned()),
    }))
}

fn result(id: &str, content: Vec<ResultContent>) -> Message {
    let block = block(BlockKind::ToolResult(ToolResultBlock {
        call_id: id.to_owned(),
        name: "t".to_owned(),
        status: ResultStatus::Success,
        content,
    }));
    message(Role::Tool, vec![block])
}

fn done(id: &str) -> Message {
    result(id, vec![ResultContent::Text(format!("of {id}"))])
}

fn thinking(text: Option<&str>, model: &str, data: &Value) -> Block {
    Block {
        kind: BlockKind::Thinking(ThinkingBlock {
            text: text.map(str::to_owned),
            summary: Vec::new(),
            redacted: text.is_none(),
        }),
        state: Some(ProviderState {
            protocol: "anthropic-messages".to_owned(),
            model: model.to_owned(),
            data: data.to_string(),
        }),
    }
}

fn hello() -> Vec<Message> {
    vec![message(Role::User, vec![text("hello")])]
}

fn user_then(blocks: Vec<Block>) -> Vec<Message> {
    [hello(), vec![message(Role::Assistant, blocks)]].concat()
}

#[test]
fn pv_3_every_neutral_field_reaches_the_wire() {
    let mut request = request(MODEL, hello());
    request.system = vec![SystemPart {
        key: "a/b".to_owned(),
        content: "Be brief.".to_owned(),
        cache_hint: true,
    }];
    request.tools = vec![tool(
        "read",
        r#"{"properties": {"path": {"type": "string"}}}"#,
    )];
    request.cache_tools = true;
    request.tool_choice = ToolChoice::Named("read".to_owned());
    request.parallel_tool_calls = Some(false);
    request.temperature = Some(0.7);
    request.stop = vec!["END".to_owned()];
    request.streaming = true;
    request.extra = r#"{"metadata": {"user_id": "u"}, "model": "other"}"#.to_owned();
    let (body, encoded) = encode(request);
    assert_eq!(
        body,
        json!({
            "model": MODEL, "max_tokens": 4096, "temperature": 0.7, "stop_sequences": ["END"], "stream": true,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "read", "cache_control": {"type": "ephemeral"},
                       "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}],
            "tool_choice": {"type": "tool", "name": "read", "disable_parallel_tool_use": true},
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
            "metadata": {"user_id": "u"},
        })
    );
    assert_eq!(encoded.request.path, "/v1/messages");
    let headers: Vec<_> = encoded
        .request
        .headers
        .iter()
        .map(|h| (h.name.as_str(), h.value.as_str()))
        .collect();
    assert_eq!(
        headers,
        [
            ("content-type", "application/json"),
            ("anthropic-version", "2023-06-01"),
            ("x-api-key", "{secret:api-key}"),
        ]
    );
    assert!(said(&encoded, "extra.model", DiagnosticAction::Dropped));
}

#[test]
fn pv_3_parallel_results_stand_together_and_first() {
    let messages = [
        user_then(vec![
            text("a"),
            call("1", "t", "{}"),
            call("2", "t", "null"),
        ]),
        vec![
            message(Role::User, vec![text("hurry")]),
            done("2"),
            done("1"),
            message(Role::User, vec![text("more")]),
        ],
    ];
    let (body, _) = encode(request(MODEL, messages.concat()));
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
    let kinds: Vec<_> = body["messages"][2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["tool_use_id"].as_str().or(b["text"].as_str()).unwrap())
        .collect();
    assert_eq!(kinds, ["1", "2", "hurry", "more"]);
}

#[test]
fn pv_3_a_call_without_a_result_gets_one_that_says_so() {
    let messages = [
        user_then(vec![call("1", "t", "{}")]),
        vec![message(Role::User, vec![text("stop")])],
    ];
    let (body, encoded) = encode(request(MODEL, messages.concat()));
    let answer = &body["messages"][2]["content"][0];
    assert_eq!(answer["is_error"], true);
    assert!(said(&encoded, "messages", DiagnosticAction::Approximated));
}

#[test]
fn pv_2_thinking_goes_back_in_place_and_byte_by_byte() {
    let blocks = || {
        vec![
            thinking(
                Some("one \n"),
                "claude-opus-4-7",
                &json!({"signature": "s1"}),
            ),
            call("1", "t", "{}"),
            thinking(None, MODEL, &json!({"data": "opaque"})),
            text("two"),
            thinking(Some(""), MODEL, &json!({"signature": "s3"})),
            call("2", "t", "{}"),
        ]
    };
    let messages = || [user_then(blocks()), vec![done("1"), done("2")]].concat();
    let (body, _) = encode(request(MODEL, messages()));
    let content = body["messages"][1]["content"].as_array().unwrap();
    assert_eq!(content.len(), 6);
    assert_eq!(
        content[0],
        json!({"type": "thinking", "thinking": "one \n", "signature": "s1"})
    );
    assert_eq!(
        content[2],
        json!({"type": "redacted_thinking", "data": "opaque"})
    );
    assert_eq!(
        content[4],
        json!({"type": "thinking", "thinking": "", "signature": "s3"})
    );
    // Another maker's model gets none of it, and is told so.
    let (body, encoded) = encode(request("MiniMax-M2", messages()));
    assert_eq!(body["messages"][1]["content"].as_array().unwrap().len(), 3);
    assert!(said(&encoded, "messages", DiagnosticAction::Dropped));
}

#[test]
fn pv_3_blank_text_goes_and_a_silent_turn_with_it() {
    let messages = [
        user_then(vec![
            text(" \n"),
            thinking(Some("x"), "gpt-5", &json!({"signature": "s"})),
        ]),
        vec![message(Role::User, vec![text(""), text("again")])],
    ];
    let (body, _) = encode(request(MODEL, messages.concat()));
    let expected = json!([{"role": "user", "content": [
        {"type": "text", "text": "hello"}, {"type": "text", "text": "again"}]}]);
    assert_eq!(body["messages"], expected);
}

#[test]
fn pv_3_arguments_are_an_object_and_results_never_empty() {
    let mut raw = call("2", "t", "");
    if let BlockKind::ToolCall(call) = &mut raw.kind {
        call.input = CallInput::Raw("{\"a\": ".to_owned());
    }
    let messages = [
        user_then(vec![
            call("1", "t", "[1]"),
            raw,
            call("3", "t", "{\"b\": 1, \"a\": 2}"),
        ]),
        vec![result("1", Vec::new()), done("2"), done("3")],
    ];
    let (body, _) = encode(request(MODEL, messages.concat()));
    let calls = &body["messages"][1]["content"];
    assert_eq!(calls[0]["input"], json!({"_raw": [1]}));
    assert_eq!(calls[1]["input"], json!({"_raw": "{\"a\": "}));
    assert_eq!(calls[2]["input"].to_string(), r#"{"b":1,"a":2}"#);
    assert_eq!(
        body["messages"][2]["content"][0]["content"][0]["text"],
        "(no output)"
    );
}

#[test]
fn pv_3_names_and_ids_fit_the_alphabet_and_come_back() {
    let mut request = request(
        MODEL,
        [
            user_then(vec![call("call:1|x", "fs.read", "{}")]),
            vec![done("call:1|x")],
        ]
        .concat(),
    );
    request.tools = vec![
        tool("fs.read", "{}"),
        tool("fs_read", "{}"),
        tool("fs_read", "{}"),
    ];
    let (body, encoded) = encode(request);
    let wire = body["tools"][0]["name"].as_str().unwrap();
    assert_eq!(body["messages"][1]["content"][0]["name"], wire);
    assert_eq!(body["tools"][1]["name"], "fs_read");
    assert_eq!(body["tools"].as_array().unwrap().len(), 2);
    let carry: Value = serde_json::from_str(&encoded.carry).unwrap();
    assert_eq!(carry["names"], json!({wire: "fs.read"}));
    assert!(said(&encoded, "tools", DiagnosticAction::Renamed));
}

#[test]
fn pv_4_sampling_that_is_refused_is_left_out_and_said() {
    let sampled = |model: &str, extra: &str| {
        let mut request = request(model, hello());
        (request.temperature, request.top_p) = (Some(1.5), Some(0.5));
        request.extra = extra.to_owned();
        encode(request)
    };
    let (body, encoded) = sampled(MODEL, "{}");
    assert_eq!(
        (&body["temperature"], &body["top_p"]),
        (&json!(1.0), &Value::Null)
    );
    assert!(said(&encoded, "temperature", DiagnosticAction::Clamped));
    assert!(said(&encoded, "top_p", DiagnosticAction::Dropped));
    let newest = [
        ("claude-opus-4-7", "{}"),
        (MODEL, r#"{"version": "2026-10-21"}"#),
    ];
    for (model, extra) in newest {
        let (body, encoded) = sampled(model, extra);
        assert_eq!(
            (&body["temperature"], &body["top_p"]),
            (&Value::Null, &Value::Null)
        );
        assert!(said(&encoded, "temperature", DiagnosticAction::Dropped));
    }
    let (_, encoded) = sampled(MODEL, r#"{"version": "2026-10-21"}"#);
    assert_eq!(encoded.request.headers[1].value, "2026-10-21");
    let mut wrong = request(MODEL, hello());
    wrong.extra = r#"{"version": "2027"}"#.to_owned();
    assert!(
        Anthropic::encode(wrong)
            .unwrap_err()
            .message
            .contains("2023-06-01")
    );
}

#[test]
fn pv_4_thinking_is_said_as_the_model_takes_it() {
    use Thinking as T;
    let effort = |e: &str| T::Effort(e.to_owned());
    let adaptive = json!({"type": "adaptive"});
    for (model, intent, thinking, effort_said) in [
        (
            MODEL,
            T::Auto,
            json!({"type": "enabled", "budget_tokens": 2048}),
            Value::Null,
        ),
        (
            MODEL,
            T::Budget(2000),
            json!({"type": "enabled", "budget_tokens": 2000}),
            Value::Null,
        ),
        (
            MODEL,
            T::Budget(9),
            json!({"type": "enabled", "budget_tokens": 1024}),
            Value::Null,
        ),
        (
            MODEL,
            T::Budget(9999),
            json!({"type": "enabled", "budget_tokens": 4095}),
            Value::Null,
        ),
        (MODEL, T::Off, json!({"type": "disabled"}), Value::Null),
        (
            "claude-sonnet-4-6",
            effort("xhigh"),
            adaptive.clone(),
            json!("high"),
        ),
        (
            "claude-sonnet-4-6",
            T::Budget(2000),
            json!({"type": "enabled", "budget_tokens": 2000}),
            Value::Null,
        ),
        (
            "claude-opus-4-7",
            effort("xhigh"),
            adaptive.clone(),
            json!("xhigh"),
        ),
        (
            "claude-sonnet-5",
            T::Budget(9000),
            adaptive.clone(),
            json!("high"),
        ),
        ("claude-sonnet-5", T::Auto, adaptive, Value::Null),
        ("claude-fable-5", T::Off, Value::Null, Value::Null),
        (
            "claude-3-5-haiku-20241022",
            effort("high"),
            Value::Null,
            Value::Null,
        ),
    ] {
        let mut request = request(model, hello());
        request.thinking = Some(intent.clone());
        let (body, _) = encode(request);
        assert_eq!(body["thinking"], thinking, "{model} {intent:?}");
        assert_eq!(
            body["output_config"]["effort"], effort_said,
            "{model} {intent:?}"
        );
    }
}

#[test]
fn pv_4_a_forced_choice_yields_to_thinking() {
    let mut request = request(MODEL, hello());
    request.tools = vec![tool("t", "{}")];
    request.tool_choice = ToolChoice::Required;
    request.thinking = Some(Thinking::Auto);
    let (body, encoded) = encode(request);
    assert_eq!(body["tool_choice"], json!({"type": "auto"}));
    assert!(said(
        &encoded,
        "tool_choice",
        DiagnosticAction::Approximated
    ));
}

#[test]
fn pv_4_a_budget_is_given_up_in_the_midst_of_calls_without_thinking() {
    let messages = |first: Option<Block>| {
        let blocks = first.into_iter().chain([call("1", "t", "{}")]).collect();
        [user_then(blocks), vec![done("1")]].concat()
    };
    let thinks = |messages| {
        let mut request = request(MODEL, messages);
        request.thinking = Some(Thinking::Budget(2000));
        encode(request).0["thinking"].is_object()
    };
    assert!(!thinks(messages(None)));
    assert!(thinks(messages(Some(thinking(
        Some("x"),
        MODEL,
        &json!({"signature": "s"})
    )))));
    let after = [
        messages(None),
        vec![message(Role::User, vec![text("go on")])],
    ]
    .concat();
    assert!(thinks(after));
}

#[test]
fn pv_10_at_most_four_marks_and_none_where_it_is_refused() {
    let mut messages = Vec::new();
    for n in 0..6 {
        messages.push(message(Role::User, vec![text(&format!("q{n}"))]));
        messages.push(message(
            Role::Assistant,
            vec![
                text("a"),
                thinking(Some("x"), MODEL, &json!({"signature": "s"})),
                text("b"),
            ],
        ));
    }
    messages.push(message(Role::User, vec![text("last")]));
    for message in &mut messages {
        message.cache_hint = true;
    }
    let mut request = request(MODEL, messages);
    request.system = vec![SystemPart {
        key: "a/b".to_owned(),
        content: "s".to_owned(),
        cache_hint: true,
    }];
    let mut deferred = tool("late", "{}");
    deferred.defer = true;
    request.tools = vec![tool("early", "{}"), deferred];
    request.cache_tools = true;
    let (body, encoded) = encode(request);
    assert!(body["system"][0]["cache_control"].is_object());
    assert_eq!(body["tools"][1]["name"], "early");
    assert!(body["tools"][1]["cache_control"].is_object());
    assert_eq!(body["tools"][0]["type"], "tool_search_tool_bm25_20251119");
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert!(last["content"][0]["cache_control"].is_object());
    assert!(said(&encoded, "cache_hint", DiagnosticAction::Dropped));
}

#[test]
fn pv_3_a_conversation_that_the_model_ends_is_one_it_can_go_on_with() {
    let (body, _) = encode(request(MODEL, user_then(vec![text("Once upon \n")])));
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(
        *last,
        json!({"role": "assistant", "content": [{"type": "text", "text": "Once upon"}]})
    );
    let (body, _) = encode(request("claude-opus-4-7", user_then(vec![text("Once")])));
    assert_eq!(body["messages"][2]["role"], "user");
    let (body, _) = encode(request(MODEL, Vec::new()));
    assert_eq!(body["messages"][0]["role"], "user");
}

#[test]
fn pv_3_data_takes_the_form_of_the_protocol() {
    let data = |media_type: &str| {
        block(BlockKind::Data(DataBlock {
            source: DataSource::Inline(DataSourceInline {
                media_type: media_type.to_owned(),
                bytes: vec![1, 2],
            }),
            name: Some("n".to_owned()),
        }))
    };
    let types = ["image/png", "application/pdf", "text/markdown", "image/bmp"];
    let blocks = types.map(data).to_vec();
    let (body, encoded) = encode(request(MODEL, vec![message(Role::User, blocks)]));
    let content = &body["messages"][0]["content"];
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AQI="});
    assert_eq!(content[0], json!({"type": "image", "source": source}));
    assert_eq!(content[1]["type"], "document");
    assert_eq!(content[1]["title"], "n");
    assert_eq!(content[2]["source"]["media_type"], "text/plain");
    assert_eq!(content[3]["text"], "[image/bmp `n` is not shown]");
    assert!(said(&encoded, "messages", DiagnosticAction::Approximated));
}

#[test]
fn pv_4_strict_tools_keep_to_what_one_request_may_have() {
    let properties: Vec<_> = (0..9)
        .map(|n| format!(r#""p{n}": {{"type": "string"}}"#))
        .collect();
    let schema = format!(
        r#"{{"type": "object", "properties": {{{}}}}}"#,
        properties.join(", ")
    );
    let mut request = request(MODEL, hello());
    request.tools = ["a", "b", "c"].map(|name| tool(name, &schema)).to_vec();
    for tool in &mut request.tools {
        tool.strict = Some(true);
    }
    let (body, encoded) = encode(request);
    let strict: Vec<_> = (0..3).map(|n| body["tools"][n]["strict"] == true).collect();
    assert_eq!(strict, [true, true, false]);
    assert!(said(&encoded, "tools.c.strict", DiagnosticAction::Dropped));
}

const MODELS: &[&str] = &[
    "claude-3-5-haiku-20241022",
    MODEL,
    "claude-sonnet-4-6",
    "claude-opus-4-7",
    "claude-fable-5",
    "MiniMax-M2",
];
const STATES: &[&str] = &["{\"signature\": \"s\"}", "{\"data\": \"d\"}", "{}", "7"];

proptest! {
    #[test]
    fn pv_3_any_conversation_becomes_a_valid_request(
        mut request in requests(MODELS, "anthropic-messages", STATES), newest: bool,
    ) {
        if newest {
            request.extra = r#"{"version": "2026-10-21"}"#.to_owned();
        }
        let (body, encoded) = encode(request.clone());
        let (again, _) = encode(request);
        prop_assert_eq!(body.to_string(), again.to_string());
        prop_assert_eq!(encoded.request.headers[1].value == "2026-10-21", newest);
    }
}
