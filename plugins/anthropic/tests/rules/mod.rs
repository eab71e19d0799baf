//! The rules of the Messages protocol, as far as services refuse what breaks them.

use sectile_sdk::provider::Encoded;
use serde_json::Value;
use std::collections::BTreeSet;

/// Holds a body to the rules.
pub(crate) fn check(body: &Value, encoded: &Encoded) {
    let why = || format!("{body:#}");
    assert!(body["max_tokens"].as_u64().unwrap() >= 1, "{}", why());
    messages(body);
    tools(body);
    thinking(body);
    marks(body);
    let version = &encoded.request.headers[1].value;
    let model = body["model"].as_str().unwrap();
    let refuses = version == "2026-10-21" || ["4-7", "fable"].iter().any(|m| model.contains(m));
    if refuses {
        assert!(
            body.get("temperature").or(body.get("top_p")).is_none(),
            "{}",
            why()
        );
    }
    assert!(
        !(body["temperature"].is_number() && body["top_p"].is_number()),
        "{}",
        why()
    );
    for stop in body["stop_sequences"].as_array().into_iter().flatten() {
        assert!(!stop.as_str().unwrap().trim().is_empty(), "{}", why());
    }
    for part in body["system"].as_array().into_iter().flatten() {
        text(part);
    }
}

fn list(value: &Value) -> &[Value] {
    value
        .as_array()
        .unwrap_or_else(|| panic!("no list: {value}"))
}

fn legal(text: &Value, max: usize) {
    let text = text.as_str().unwrap();
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    assert!(
        (1..=max).contains(&text.len()) && text.chars().all(is_legal),
        "{text:?}"
    );
}

fn text(block: &Value) {
    assert!(
        !block["text"].as_str().unwrap().trim().is_empty(),
        "{block}"
    );
}

fn ids<'a>(message: &'a Value, kind: &str, key: &str) -> Vec<&'a str> {
    let blocks = list(&message["content"]).iter();
    let blocks = blocks.filter(|b| b["type"] == kind);
    blocks.map(|b| b[key].as_str().unwrap()).collect()
}

fn messages(body: &Value) {
    let messages = list(&body["messages"]);
    assert_eq!(messages.first().unwrap()["role"], "user");
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "{body:#}");
        let content = list(&message["content"]);
        assert!(!content.is_empty(), "{body:#}");
        let answers = ids(message, "tool_result", "tool_use_id");
        assert_eq!(
            answers, open,
            "results answer the calls before them: {body:#}"
        );
        let first = content.iter().take(answers.len());
        assert!(
            first.clone().all(|b| b["type"] == "tool_result"),
            "{body:#}"
        );
        open = ids(message, "tool_use", "id");
        assert!(open.iter().all(|id| seen.insert(*id)), "{body:#}");
        for content in content {
            block(role, content);
        }
        let last = content.last().unwrap();
        assert!(
            !last["type"].as_str().unwrap().contains("thinking"),
            "{body:#}"
        );
    }
    assert!(open.is_empty(), "calls without results: {body:#}");
    let last = messages.last().unwrap();
    if last["role"] == "assistant" {
        let block = list(&last["content"]).last().unwrap();
        if let Some(text) = block["text"].as_str() {
            assert_eq!(text, text.trim_end(), "{body:#}");
            let model = body["model"].as_str().unwrap();
            let prefills = ["4-6", "4-7", "fable"].iter().all(|m| !model.contains(m));
            assert!(prefills && !thinks(body), "{body:#}");
        }
    }
}

fn block(role: &str, block: &Value) {
    let kind = block["type"].as_str().unwrap();
    match (role, kind) {
        (_, "text") => text(block),
        ("user", "image" | "document") => assert!(block["source"]["type"].is_string()),
        ("user", "tool_result") => {
            let content = list(&block["content"]);
            assert!(!content.is_empty());
            for inner in content {
                match inner["type"].as_str().unwrap() {
                    "text" => text(inner),
                    other => assert!(["image", "document"].contains(&other), "{block}"),
                }
            }
        }
        ("assistant", "tool_use") => {
            legal(&block["id"], 64);
            legal(&block["name"], 128);
            assert!(block["input"].is_object(), "{block}");
        }
        ("assistant", "thinking") => {
            assert!(
                block["thinking"].is_string() && block["signature"].is_string(),
                "{block}"
            );
        }
        ("assistant", "redacted_thinking") => assert!(block["data"].is_string(), "{block}"),
        ("assistant", "server_tool_use") => {}
        _ => panic!("{role} cannot say {block}"),
    }
}

fn thinks(body: &Value) -> bool {
    matches!(
        body["thinking"]["type"].as_str(),
        Some("enabled" | "adaptive")
    )
}

fn thinking(body: &Value) {
    let model = body["model"].as_str().unwrap();
    if let Some(budget) = body["thinking"]["budget_tokens"].as_u64() {
        assert!(
            budget >= 1024 && budget < body["max_tokens"].as_u64().unwrap(),
            "{body:#}"
        );
        assert!(
            !model.contains("4-7") && !model.contains("fable"),
            "{body:#}"
        );
    }
    if body["thinking"]["type"] == "disabled" {
        assert!(!model.contains("fable"), "{body:#}");
    }
    if body["thinking"]["type"] == "adaptive" {
        assert!(
            ["4-6", "4-7", "sonnet-5", "fable-5"]
                .iter()
                .any(|m| model.contains(m)),
            "{body:#}"
        );
    }
    if thinks(body) {
        assert!(body.get("temperature").is_none(), "{body:#}");
        assert!(body["top_p"].as_f64().is_none_or(|p| p >= 0.95), "{body:#}");
        assert!(
            !matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool")),
            "{body:#}"
        );
    }
}

fn tools(body: &Value) {
    let Some(tools) = body["tools"].as_array() else {
        assert!(body.get("tool_choice").is_none(), "{body:#}");
        return;
    };
    let mut names = BTreeSet::new();
    let (mut strict, mut deferred) = (0, 0);
    for tool in tools {
        legal(&tool["name"], 128);
        assert!(names.insert(tool["name"].as_str().unwrap()), "{body:#}");
        strict += usize::from(tool["strict"] == true);
        deferred += usize::from(tool["defer_loading"] == true);
        if tool.get("type").is_none() {
            let schema = &tool["input_schema"];
            assert_eq!(schema["type"], "object", "{body:#}");
            for key in ["anyOf", "oneOf", "allOf", "$ref"] {
                assert!(schema.get(key).is_none(), "{body:#}");
            }
        }
    }
    assert!(
        strict <= 20 && (deferred == 0 || deferred < tools.len()),
        "{body:#}"
    );
    if let Some(name) = body["tool_choice"]["name"].as_str() {
        assert!(names.contains(name), "{body:#}");
    }
}

fn marks(body: &Value) {
    let messages = list(&body["messages"]).iter();
    let blocks = messages.flat_map(|m| list(&m["content"]));
    let system = body["system"].as_array().into_iter().flatten();
    let tools = body["tools"].as_array().into_iter().flatten();
    let marked = blocks.chain(system).chain(tools);
    let marked: Vec<_> = marked
        .filter(|b| b.get("cache_control").is_some())
        .collect();
    assert!(marked.len() <= 4, "{body:#}");
    for block in marked {
        let kind = block["type"].as_str().unwrap_or_default();
        assert!(
            !kind.contains("thinking") && !kind.starts_with("tool_search"),
            "{block}"
        );
        assert!(block.get("defer_loading").is_none(), "{block}");
    }
}
