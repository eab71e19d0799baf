//! Tools and the choice among them.

use super::Context;
use crate::dialect::RequiredWord;
use sectile_sdk::provider::{BlockKind, ProviderError, Request, ToolChoice, ToolDefinition};
use sectile_wire::names::Names;
use sectile_wire::outbox::invalid;
use sectile_wire::schema::{self, StrictRule};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Bytes of a tool's name.
const MAX_NAME: usize = 64;

const STRICT: StrictRule = StrictRule {
    refused: &[
        "$schema",
        "contains",
        "default",
        "maxItems",
        "maxLength",
        "maxProperties",
        "minItems",
        "minLength",
        "minProperties",
        "pattern",
        "propertyNames",
        "uniqueItems",
    ],
    formats: &[
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "time",
        "uuid",
    ],
    all_required: true,
};

/// Names of all tools that are offered or were called.
pub(super) fn names(request: &Request) -> Names {
    let blocks = request.messages.iter().flat_map(|m| &m.content);
    let called = blocks.filter_map(|block| match &block.kind {
        BlockKind::ToolCall(call) => Some(call.name.as_str()),
        _ => None,
    });
    let offered = request.tools.iter().map(|tool| tool.name.as_str());
    Names::new(offered.chain(called), MAX_NAME)
}

pub(super) fn build(context: &mut Context) -> Result<Vec<Value>, ProviderError> {
    let request = context.request;
    let most = usize::try_from(context.dialect.max_tools).unwrap_or(usize::MAX);
    let mut tools = Vec::new();
    let mut seen = BTreeSet::new();
    for tool in &request.tools {
        if !seen.insert(tool.name.as_str()) {
            let why = format!("`{}` is offered twice", tool.name);
            context.notes.dropped("tools", &why);
        } else if !is_allowed(context, &tool.name) {
            // Said where the choice is made.
        } else if tools.len() == most {
            let why = format!("at most {most} tools are taken");
            context.notes.dropped("tools", &why);
        } else {
            tools.push(definition(context, tool)?);
        }
    }
    Ok(tools)
}

/// Where a choice cannot be said, what it leaves out is not offered.
fn is_allowed(context: &Context, name: &str) -> bool {
    match &context.request.tool_choice {
        _ if says_choice(context) => true,
        ToolChoice::Allowed(allowed) => allowed.iter().any(|allowed| allowed == name),
        ToolChoice::Named(named) => named == name,
        ToolChoice::None => false,
        ToolChoice::Auto | ToolChoice::Required => true,
    }
}

fn says_choice(context: &Context) -> bool {
    let dialect = &context.dialect;
    let is_allowed = matches!(context.request.tool_choice, ToolChoice::Allowed(_));
    dialect.tool_choice && (dialect.allowed_tools || !is_allowed)
}

fn definition(context: &mut Context, tool: &ToolDefinition) -> Result<Value, ProviderError> {
    let field = format!("tools.{}.input_schema", tool.name);
    let schema: Value = serde_json::from_str(&tool.input_schema).map_err(|e| {
        invalid(&format!(
            "the schema of tool `{}` is not JSON: {e}",
            tool.name
        ))
    })?;
    let schema = schema::object_root(&schema, &field, &mut context.notes);
    let mut strict = None;
    if tool.strict == Some(true) {
        if context.dialect.strict {
            strict = schema::strict(&schema, STRICT, &field, &mut context.notes);
        }
        if strict.is_none() {
            let why = "the service, or its strict schemas, cannot say this schema";
            let field = format!("tools.{}.strict", tool.name);
            context.notes.dropped(&field, why);
        }
    }
    if tool.defer {
        let why = "this protocol has no deferred tools";
        context.notes.dropped("tools.defer", why);
    }
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(context.names.to_wire(&tool.name)));
    if !tool.description.trim().is_empty() {
        function.insert("description".to_owned(), json!(tool.description));
    }
    let is_strict = strict.is_some();
    function.insert("parameters".to_owned(), strict.unwrap_or(schema));
    if is_strict {
        function.insert("strict".to_owned(), json!(true));
    }
    Ok(json!({"type": "function", "function": function}))
}

/// Adds the tools and what the model may choose among them.
pub(super) fn add(
    context: &mut Context,
    tools: Vec<Value>,
    thinks: bool,
    body: &mut Map<String, Value>,
) {
    let request = context.request;
    if tools.is_empty() {
        if !matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::None) {
            context.notes.dropped("tool_choice", "no tools are offered");
        }
        return;
    }
    if let Some(choice) = choice(context, &tools, thinks) {
        body.insert("tool_choice".to_owned(), choice);
    }
    body.insert("tools".to_owned(), Value::Array(tools));
    match request.parallel_tool_calls {
        Some(parallel) if context.dialect.parallel => {
            body.insert("parallel_tool_calls".to_owned(), json!(parallel));
        }
        Some(_) => {
            let why = "this service does not let it be chosen";
            context.notes.dropped("parallel_tool_calls", why);
        }
        None => {}
    }
}

fn choice(context: &mut Context, tools: &[Value], thinks: bool) -> Option<Value> {
    let request = context.request;
    if request.tool_choice == ToolChoice::Auto {
        return None;
    }
    if !says_choice(context) {
        let why = "this service is not told the choice, the other tools are left out";
        context.notes.approximated("tool_choice", why);
        return None;
    }
    let reference = |name: &str| {
        let wire = context.names.to_wire(name);
        let is_offered = |tool: &&Value| tool.pointer("/function/name") == Some(&json!(wire));
        tools.iter().find(is_offered)?;
        Some(json!({"type": "function", "function": {"name": wire}}))
    };
    let choice = match &request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => return Some(json!("none")),
        ToolChoice::Required => Some(match context.dialect.required {
            RequiredWord::Required => json!("required"),
            RequiredWord::Any => json!("any"),
        }),
        ToolChoice::Named(name) => reference(name),
        ToolChoice::Allowed(names) => {
            let allowed: Vec<_> = names.iter().filter_map(|name| reference(name)).collect();
            if allowed.is_empty() {
                return Some(json!("none"));
            }
            let allowed = json!({"mode": "auto", "tools": allowed});
            return Some(json!({"type": "allowed_tools", "allowed_tools": allowed}));
        }
    };
    if choice.is_none() {
        context
            .notes
            .dropped("tool_choice", "the tool is not offered");
    } else if thinks && context.dialect.free_choice_thinking {
        let why = "a model that thinks cannot be made to call a tool";
        context.notes.approximated("tool_choice", why);
        return None;
    }
    choice
}
