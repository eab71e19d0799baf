//! The rules of Chat Completions and of its dialects, as far as services refuse
//! what breaks them.

use sectile_sdk::provider::Request;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Holds a body to the rules of its protocol in `dialect`.
pub(crate) fn check(dialect: &str, body: &Value, request: &Request) {
    Rules { dialect, body }.check(request);
}

fn is_name(name: &str, max: usize) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=max).contains(&name.len()) && name.chars().all(legal)
}

/// The rules of the protocol, and of one dialect of it.
struct Rules<'a> {
    dialect: &'a str,
    body: &'a Value,
}

impl Rules<'_> {
    fn check(&self, request: &Request) {
        let body = self.body;
        assert_eq!(body["model"], json!(request.model));
        self.messages();
        self.tools();
        self.numbers();
        assert_eq!(body.get("stream").is_some(), request.streaming);
        let options = request.streaming && self.dialect != "mistral";
        assert_eq!(body.get("stream_options").is_some(), options);
        let marks = self.body.to_string();
        let marks = marks.matches("\"prompt_cache_breakpoint\"").count()
            + marks.matches("\"cache_control\"").count();
        assert!(marks <= 4, "{marks} marks");
    }

    fn messages(&self) {
        let messages = self.body["messages"].as_array().unwrap();
        let roles: Vec<_> = messages
            .iter()
            .map(|m| m["role"].as_str().unwrap())
            .collect();
        let is_system = |role: &str| ["system", "developer"].contains(&role);
        let start = usize::from(is_system(roles[0]));
        assert!(messages.len() > start, "no message at all");
        assert!(!roles[start..].iter().any(|role| is_system(role)));
        if ["mistral", "qwen", "llama-cpp", "vllm"].contains(&self.dialect) {
            assert_eq!(roles[start], "user");
        }
        let last = messages.last().unwrap();
        if last["role"] == "assistant" {
            match self.dialect {
                "mistral" => assert_eq!(last["prefix"], true),
                dialect => assert!(["openai", "ollama", "openrouter"].contains(&dialect)),
            }
        }
        let mut open: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        for (n, message) in messages.iter().enumerate() {
            let role = roles[n];
            if role == "tool" {
                assert!(!open.is_empty(), "a result without a call");
                assert_eq!(message["tool_call_id"], open.remove(0));
            } else {
                assert!(open.is_empty(), "a call without a result");
                assert!(n == 0 || roles[n - 1] != role, "two of {role}");
                let after_tool = n > 0 && roles[n - 1] == "tool";
                assert!(!(self.dialect == "mistral" && after_tool && role == "user"));
            }
            self.content(role, message);
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                assert_eq!(role, "assistant");
                let id = self.call(call);
                assert!(seen.insert(id.to_owned()), "{id} twice");
                open.push(id);
            }
        }
        assert!(open.is_empty(), "a call without a result");
    }

    fn call<'a>(&self, call: &'a Value) -> &'a str {
        let id = call["id"].as_str().unwrap();
        assert!(is_name(id, 40), "{id}");
        if self.dialect == "mistral" {
            assert!(id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()));
        }
        assert_eq!(call["type"], "function");
        assert!(is_name(call["function"]["name"].as_str().unwrap(), 64));
        let arguments = call["function"]["arguments"].as_str().unwrap();
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        assert!(arguments.is_object());
        id
    }

    fn content(&self, role: &str, message: &Value) {
        let has_calls = message["tool_calls"]
            .as_array()
            .is_some_and(|c| !c.is_empty());
        assert_eq!(message.get("tool_calls").is_some(), has_calls);
        match message.get("content") {
            Some(Value::String(text)) if text.is_empty() => {
                assert!(role == "assistant", "{role} says nothing");
                assert!(has_calls);
            }
            Some(Value::String(text)) => assert!(!text.trim().is_empty(), "blank text"),
            Some(Value::Array(parts)) => {
                assert!(!parts.is_empty());
                for part in parts {
                    self.part(role, part);
                    // A refusal is the only part.
                    assert!(part["type"] != "refusal" || parts.len() == 1);
                }
            }
            None | Some(Value::Null) => {
                assert_eq!(role, "assistant");
                assert!(has_calls);
                assert!(!["deepseek", "qwen"].contains(&self.dialect));
            }
            other => panic!("{other:?}"),
        }
        if self.dialect == "deepseek" && has_calls {
            assert!(message["reasoning_content"].is_string(), "{message}");
        }
    }

    fn part(&self, role: &str, part: &Value) {
        let kind = part["type"].as_str().unwrap();
        match kind {
            "text" => assert!(!part["text"].as_str().unwrap().trim().is_empty()),
            "thinking" => assert_eq!(role, "assistant"),
            "refusal" => assert_eq!((role, self.dialect), ("assistant", "openai")),
            "image_url" | "input_audio" | "file" => {
                assert_eq!(role, "user", "{kind}");
                let taken: &[&str] = match self.dialect {
                    "deepseek" => &[],
                    "openai" | "openrouter" => &["image_url", "input_audio", "file"],
                    _ => &["image_url"],
                };
                assert!(taken.contains(&kind), "{} takes no {kind}", self.dialect);
                let is_empty = part.to_string().contains(";base64,\"");
                assert!(!is_empty && part["input_audio"]["data"] != "", "{part}");
            }
            other => panic!("{other}"),
        }
    }

    fn tools(&self) {
        let body = self.body;
        let Some(tools) = body.get("tools") else {
            assert_eq!(body.get("tool_choice"), None);
            assert_eq!(body.get("parallel_tool_calls"), None);
            return;
        };
        let tools = tools.as_array().unwrap();
        assert!((1..=128).contains(&tools.len()));
        let mut names = BTreeSet::new();
        for tool in tools {
            let function = &tool["function"];
            let name = function["name"].as_str().unwrap();
            assert!(is_name(name, 64) && names.insert(name));
            assert_eq!(function["parameters"]["type"], "object");
            assert!(function["parameters"]["properties"].is_object());
            if function.get("strict").is_some() {
                assert!(["openai", "openrouter"].contains(&self.dialect));
                let parameters = &function["parameters"];
                assert_eq!(parameters["additionalProperties"], false);
                let required = parameters["required"].as_array().map_or(0, Vec::len);
                let properties = parameters["properties"].as_object().unwrap().len();
                assert_eq!(required, properties);
            }
        }
        match body.get("tool_choice") {
            None => {}
            Some(Value::String(word)) => {
                let at_least_one = match self.dialect {
                    "mistral" => "any",
                    _ => "required",
                };
                assert!(
                    ["auto", "none", at_least_one].contains(&word.as_str()),
                    "{word}"
                );
            }
            Some(choice) if choice["type"] == "function" => {
                assert!(names.contains(choice["function"]["name"].as_str().unwrap()));
            }
            Some(choice) => {
                assert_eq!(
                    (choice["type"].as_str(), self.dialect),
                    (Some("allowed_tools"), "openai")
                );
                let allowed = choice["allowed_tools"]["tools"].as_array().unwrap();
                assert!(!allowed.is_empty());
                for tool in allowed {
                    assert!(names.contains(tool["function"]["name"].as_str().unwrap()));
                }
            }
        }
    }

    fn numbers(&self) {
        let body = self.body;
        let openai = self.dialect == "openai";
        for key in ["max_tokens", "max_completion_tokens"] {
            if let Some(limit) = body.get(key) {
                assert!(limit.as_u64().unwrap() >= 1);
                assert_eq!(key == "max_completion_tokens", openai);
            }
        }
        let hottest = match self.dialect {
            "mistral" => 1.5,
            _ => 2.0,
        };
        for (key, high) in [("temperature", hottest), ("top_p", 1.0)] {
            if let Some(value) = body.get(key) {
                assert!((0.0..=high).contains(&value.as_f64().unwrap()), "{key}");
            }
        }
        let most = match self.dialect {
            "openai" | "openrouter" => 4,
            _ => 16,
        };
        let stops = body.get("stop").map(|stop| stop.as_array().unwrap());
        assert!(stops.is_none_or(|stops| (1..=most).contains(&stops.len())));
        for stop in stops.into_iter().flatten() {
            assert!(!stop.as_str().unwrap().trim().is_empty());
        }
        let reasons = ["gpt-5.6", "o3", "o1-mini"].map(Value::from);
        if openai && reasons.contains(&body["model"]) {
            for refused in ["temperature", "top_p", "stop"] {
                assert_eq!(body.get(refused), None);
            }
        }
        if self.dialect == "qwen" && body.get("stream").is_none() {
            assert_eq!(body["enable_thinking"], false);
        }
    }
}
