//! Intents in the words of each service: thinking, sampling, choices of tools.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod rules;

use sectile_plugin_openai_chat::OpenAiChat;
use sectile_sdk::provider::{Diagnostic, Provider, Request, Role, Thinking, ToolChoice};
use sectile_wire_testing::{message, request, text, tool};
use serde_json::{Value, json};

/// The body in a dialect, and what was not taken as it was.
fn body(request: Request, dialect: &str) -> (Value, Vec<Diagnostic>) {
    let asked = request.clone();
    let extra = json!({"dialect": dialect}).to_string();
    let encoded = OpenAiChat::encode(Request { extra, ..request }).unwrap();
    let body = serde_json::from_slice(&encoded.request.body).unwrap();
    rules::check(dialect, &body, &asked);
    (body, encoded.diagnostics)
}

fn hello(model: &str) -> Request {
    request(model, vec![message(Role::User, vec![text("hello")])])
}

#[test]
fn pv_4_thinking_is_asked_for_in_the_words_of_the_service() {
    let effort = |word: &str| Thinking::Effort(word.to_owned());
    for (dialect, model, intent, field, value) in [
        (
            "openai",
            "gpt-5.1",
            Thinking::Off,
            "reasoning_effort",
            json!("none"),
        ),
        (
            "openai",
            "gpt-5",
            Thinking::Off,
            "reasoning_effort",
            json!("minimal"),
        ),
        (
            "openai",
            "o3",
            effort("high"),
            "reasoning_effort",
            json!("high"),
        ),
        (
            "openai",
            "o3",
            Thinking::Budget(1_000),
            "reasoning_effort",
            json!("low"),
        ),
        (
            "openai",
            "o3",
            Thinking::Auto,
            "reasoning_effort",
            json!(null),
        ),
        (
            "openai",
            "gpt-4.1",
            effort("high"),
            "reasoning_effort",
            json!(null),
        ),
        (
            "deepseek",
            "m",
            Thinking::Off,
            "thinking",
            json!({"type": "disabled"}),
        ),
        (
            "deepseek",
            "m",
            Thinking::Auto,
            "thinking",
            json!({"type": "enabled"}),
        ),
        (
            "qwen",
            "m",
            Thinking::Budget(99),
            "thinking_budget",
            json!(99),
        ),
        ("qwen", "m", Thinking::Off, "enable_thinking", json!(false)),
        (
            "ollama",
            "m",
            effort("low"),
            "reasoning_effort",
            json!("low"),
        ),
        (
            "vllm",
            "m",
            Thinking::Off,
            "chat_template_kwargs",
            json!({"enable_thinking": false}),
        ),
        (
            "openrouter",
            "m",
            Thinking::Budget(5),
            "reasoning",
            json!({"max_tokens": 5}),
        ),
        (
            "openrouter",
            "m",
            Thinking::Off,
            "reasoning",
            json!({"enabled": false}),
        ),
        (
            "mistral",
            "m",
            effort("high"),
            "reasoning_effort",
            json!(null),
        ),
    ] {
        let request = Request {
            thinking: Some(intent.clone()),
            streaming: true,
            ..hello(model)
        };
        let (body, notes) = body(request, dialect);
        assert_eq!(body[field], value, "{dialect} {model} {intent:?}");
        let is_asked = !matches!(intent, Thinking::Off | Thinking::Auto);
        if is_asked && value.is_null() {
            assert_eq!(notes.len(), 1, "{dialect} {intent:?}: {notes:?}");
        }
    }
    let (body, notes) = body(
        Request {
            thinking: Some(Thinking::Auto),
            ..hello("qwen3")
        },
        "qwen",
    );
    assert_eq!((&body["enable_thinking"], notes.len()), (&json!(false), 1));
}

#[test]
fn pv_4_what_a_reasoning_model_refuses_is_left_out_and_said() {
    let asked = |model| Request {
        temperature: Some(0.7),
        top_p: Some(0.9),
        stop: vec!["x".to_owned()],
        ..hello(model)
    };
    let (refused, notes) = body(asked("gpt-5.1"), "openai");
    for field in ["temperature", "top_p", "stop"] {
        assert_eq!(refused.get(field), None);
        assert!(notes.iter().any(|d| d.field == field), "{field}");
    }
    assert_eq!(refused["max_completion_tokens"], 4_096);
    let (taken, notes) = body(asked("gpt-4.1"), "openai");
    assert_eq!(
        (&taken["temperature"], &taken["top_p"]),
        (&json!(0.7), &json!(0.9))
    );
    assert_eq!((&taken["stop"], notes.len()), (&json!(["x"]), 0));
    // Another service's models keep their own rules.
    let (taken, _) = body(asked("gpt-5.1"), "vllm");
    assert_eq!(
        (&taken["temperature"], &taken["max_tokens"]),
        (&json!(0.7), &json!(4_096))
    );
}

#[test]
fn pv_4_a_choice_of_tools_is_said_as_the_service_understands_it() {
    let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
    let asked = |choice, thinking| Request {
        tools: vec![tool("a", "{}"), tool("b", "{}")],
        tool_choice: choice,
        thinking,
        streaming: true,
        ..hello("m")
    };
    for (dialect, choice, thinking, expected, tools) in [
        ("openai", ToolChoice::Auto, None, json!(null), 2),
        ("openai", ToolChoice::Required, None, json!("required"), 2),
        ("mistral", ToolChoice::Required, None, json!("any"), 2),
        ("deepseek", ToolChoice::Required, None, json!("required"), 2),
        (
            "deepseek",
            ToolChoice::Required,
            Some(Thinking::Auto),
            json!(null),
            2,
        ),
        (
            "deepseek",
            ToolChoice::Required,
            Some(Thinking::Off),
            json!("required"),
            2,
        ),
        ("deepseek", ToolChoice::None, None, json!("none"), 2),
        ("ollama", ToolChoice::Required, None, json!(null), 2),
        (
            "vllm",
            ToolChoice::Allowed(names(&["b"])),
            None,
            json!(null),
            1,
        ),
        (
            "openai",
            ToolChoice::Named("c".to_owned()),
            None,
            json!(null),
            2,
        ),
    ] {
        let (body, notes) = body(asked(choice.clone(), thinking), dialect);
        assert_eq!(body["tool_choice"], expected, "{dialect} {choice:?}");
        assert_eq!(body["tools"].as_array().unwrap().len(), tools, "{dialect}");
        let is_said = expected.is_null() && choice != ToolChoice::Auto;
        assert_eq!(
            notes.iter().any(|d| d.field == "tool_choice"),
            is_said,
            "{dialect} {choice:?}"
        );
    }
    let (body, _) = body(asked(ToolChoice::Allowed(names(&["b"])), None), "openai");
    assert_eq!(
        body["tool_choice"]["allowed_tools"]["tools"][0]["function"]["name"],
        "b"
    );
    assert_eq!(body["tools"].as_array().unwrap().len(), 2);
}
