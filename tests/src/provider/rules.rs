//! What the real services refuse, in their words.

use super::{Protocol, Received};
use serde_json::Value;
use std::collections::BTreeSet;

type Refused = (u16, String);

pub(super) fn check(protocol: Protocol, request: &Received) -> Result<(), Refused> {
    match protocol {
        Protocol::Anthropic => anthropic(request),
        Protocol::OpenAi => openai(request),
    }
}

fn must(holds: bool, why: impl Into<String>) -> Result<(), Refused> {
    match holds {
        true => Ok(()),
        false => Err((400, why.into())),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn is_name(name: &str, most: usize) -> bool {
    (1..=most).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn anthropic(request: &Received) -> Result<(), Refused> {
    let body = &request.body;
    if request.header("x-api-key") != Some("test-key") {
        return Err((401, "invalid x-api-key".to_owned()));
    }
    must(
        request.header("anthropic-version").is_some(),
        "anthropic-version: header is required",
    )?;
    must(
        body.get("max_tokens").is_some_and(Value::is_u64),
        "max_tokens: Field required",
    )?;
    let messages = list(body, "messages");
    let Some(first) = messages.first() else {
        return Err((400, "messages: at least one message is required".to_owned()));
    };
    must(
        text(first, "role") == "user",
        "messages: first message must use the \"user\" role",
    )?;
    let marks = body.to_string().matches("\"cache_control\"").count();
    must(
        marks <= 4,
        format!("A maximum of 4 blocks with cache_control may be provided. Found {marks}."),
    )?;
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut last_role = "";
    for (n, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        must(
            role != last_role,
            format!("messages.{n}: roles must alternate"),
        )?;
        last_role = role;
        let content = list(message, "content");
        must(
            !content.is_empty(),
            format!("messages.{n}: content must be non-empty"),
        )?;
        let mut answered = BTreeSet::new();
        let mut texts = false;
        for block in content {
            match text(block, "type") {
                "text" => {
                    texts = true;
                    must(
                        !text(block, "text").trim().is_empty(),
                        "messages: text content blocks must be non-empty",
                    )?;
                }
                "tool_result" => {
                    must(!texts, "tool_result blocks must come first")?;
                    let id = text(block, "tool_use_id");
                    must(
                        open.contains(id),
                        format!("unexpected tool_use_id found in tool_result blocks: {id}"),
                    )?;
                    answered.insert(id.to_owned());
                }
                "tool_use" => {
                    must(role == "assistant", "tool_use blocks are the assistant's")?;
                    must(
                        block.get("input").is_some_and(Value::is_object),
                        "tool_use.input: must be an object",
                    )?;
                    must(
                        is_name(text(block, "id"), 64),
                        "tool_use.id: String should match pattern",
                    )?;
                }
                _ => {}
            }
        }
        must(
            open == answered,
            format!(
                "tool_use ids were found without tool_result blocks immediately after: {open:?}"
            ),
        )?;
        open = content
            .iter()
            .filter(|block| text(block, "type") == "tool_use")
            .map(|block| text(block, "id").to_owned())
            .collect();
    }
    must(
        open.is_empty(),
        "tool_use ids were found without tool_result blocks immediately after",
    )?;
    for tool in list(body, "tools") {
        must(
            is_name(text(tool, "name"), 128),
            "tools.0.custom.name: String should match pattern",
        )?;
        must(
            text(&tool["input_schema"], "type") == "object",
            "tools.0.custom.input_schema.type: Field required",
        )?;
    }
    Ok(())
}

fn openai(request: &Received) -> Result<(), Refused> {
    let body = &request.body;
    if request.header("authorization") != Some("Bearer test-key") {
        return Err((401, "Incorrect API key provided".to_owned()));
    }
    let messages = list(body, "messages");
    must(!messages.is_empty(), "[] is too short - 'messages'")?;
    let mut open: BTreeSet<String> = BTreeSet::new();
    for message in messages {
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id");
            must(
                open.remove(id),
                "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
            )?;
            continue;
        }
        must(
            open.is_empty(),
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'",
        )?;
        for call in list(message, "tool_calls") {
            must(
                call.pointer("/function/arguments")
                    .is_some_and(Value::is_string),
                "arguments must be a string",
            )?;
            must(
                open.insert(text(call, "id").to_owned()),
                "duplicate tool call id",
            )?;
        }
        let has_content = message.get("content").is_some_and(|c| !c.is_null());
        must(has_content || !open.is_empty(), "content must not be null")?;
    }
    must(
        open.is_empty(),
        "An assistant message with 'tool_calls' must be followed by tool messages",
    )?;
    for tool in list(body, "tools") {
        must(
            is_name(text(&tool["function"], "name"), 64),
            "Invalid 'tools[0].function.name'",
        )?;
    }
    must(
        body.get("stream_options").is_none() || body["stream"] == true,
        "stream_options needs stream",
    )?;
    Ok(())
}
