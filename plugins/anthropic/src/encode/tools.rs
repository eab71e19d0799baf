//! Tools and the choice among them.

use super::Context;
use super::cache::Built;
use super::content::set;
use sectile_sdk::provider::{BlockKind, ProviderError, Request, ToolChoice, ToolDefinition};
use sectile_wire::names::Names;
use sectile_wire::outbox::invalid;
use sectile_wire::schema::{self, StrictRule};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Bytes of a tool's name.
const MAX_NAME: usize = 128;
/// Strict tools in one request, and what all of them together may have.
const MAX_STRICT: usize = 20;
const MAX_OPTIONAL: usize = 24;
const MAX_UNIONS: usize = 16;

const STRICT: StrictRule = StrictRule {
    refused: &[
        "$schema",
        "contains",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
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
        "uri",
        "uuid",
    ],
    all_required: false,
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

pub(super) fn build(context: &mut Context) -> Result<Vec<Built>, ProviderError> {
    let request = context.request;
    let mut tools = Vec::new();
    let mut seen = BTreeSet::new();
    let mut strict = StrictCount::default();
    for tool in &request.tools {
        if !seen.insert(tool.name.as_str()) {
            let why = format!("`{}` is offered twice", tool.name);
            context.notes.dropped("tools", &why);
        } else if is_allowed(&request.tool_choice, &tool.name) {
            let value = definition(context, tool, &mut strict)?;
            tools.push(Built { value, hint: false });
        }
    }
    defer(context, &mut tools);
    if request.cache_tools
        && let Some(last) = tools.last_mut()
    {
        last.hint = true;
    }
    Ok(tools)
}

fn is_allowed(choice: &ToolChoice, name: &str) -> bool {
    match choice {
        ToolChoice::Allowed(allowed) => allowed.iter().any(|allowed| allowed == name),
        _ => true,
    }
}

fn definition(
    context: &mut Context,
    tool: &ToolDefinition,
    count: &mut StrictCount,
) -> Result<Value, ProviderError> {
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
        strict = schema::strict(&schema, STRICT, &field, &mut context.notes);
        strict = strict.filter(|schema| count.admits(schema));
        if strict.is_none() {
            let why = "the schema is beyond what is taken strictly";
            context
                .notes
                .dropped(&format!("tools.{}.strict", tool.name), why);
        }
    }
    let mut out = Map::new();
    out.insert("name".to_owned(), json!(context.names.to_wire(&tool.name)));
    if !tool.description.trim().is_empty() {
        out.insert("description".to_owned(), json!(tool.description));
    }
    let is_strict = strict.is_some();
    out.insert("input_schema".to_owned(), strict.unwrap_or(schema));
    if is_strict {
        out.insert("strict".to_owned(), json!(true));
    }
    if tool.defer {
        out.insert("defer_loading".to_owned(), json!(true));
    }
    Ok(Value::Object(out))
}

/// Deferred tools need a tool to find them with, which is not deferred itself.
fn defer(context: &mut Context, tools: &mut Vec<Built>) {
    const SEARCH: &str = "tool_search_tool_bm25";
    let is_deferred = |tool: &Built| tool.value.get("defer_loading").is_some();
    if !tools.iter().any(is_deferred) {
        return;
    }
    let is_free = tools
        .iter()
        .all(|tool| tool.value.get("name") != Some(&json!(SEARCH)));
    if context.model.defer && is_free {
        let value = json!({"type": "tool_search_tool_bm25_20251119", "name": SEARCH});
        tools.insert(0, Built { value, hint: false });
        return;
    }
    context
        .notes
        .dropped("tools.defer", "this model does not search for tools");
    for tool in tools {
        if let Value::Object(tool) = &mut tool.value {
            tool.shift_remove("defer_loading");
        }
    }
}

/// What is left of what strict tools together may have.
#[derive(Debug, Default)]
struct StrictCount {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl StrictCount {
    fn admits(&mut self, schema: &Value) -> bool {
        let mut total = Self {
            tools: self.tools + 1,
            ..*self
        };
        let is_known = total.count(schema);
        let admits = is_known
            && total.tools <= MAX_STRICT
            && total.optional <= MAX_OPTIONAL
            && total.unions <= MAX_UNIONS;
        if admits {
            *self = total;
        }
        admits
    }

    /// False when the schema refers to others, since that may be in a circle.
    fn count(&mut self, schema: &Value) -> bool {
        match schema {
            Value::Object(object) => {
                if object.contains_key("$ref") {
                    return false;
                }
                if let Some(Value::Object(properties)) = object.get("properties") {
                    let required = object.get("required").and_then(Value::as_array);
                    let required = required.map_or(0, Vec::len);
                    self.optional += properties.len().saturating_sub(required);
                }
                let is_union =
                    object.contains_key("anyOf") || object.get("type").is_some_and(Value::is_array);
                self.unions += usize::from(is_union);
                object.values().all(|value| self.count(value))
            }
            Value::Array(values) => values.iter().all(|value| self.count(value)),
            _ => true,
        }
    }
}

/// What the model may choose among the tools of `body`.
pub(super) fn choice(
    context: &mut Context,
    body: &Map<String, Value>,
    thinks: bool,
) -> Option<Value> {
    let request = context.request;
    let has_tools = body.contains_key("tools");
    let mut choice = match &request.tool_choice {
        _ if !has_tools => {
            if !matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::None) {
                context.notes.dropped("tool_choice", "no tools are offered");
            }
            return None;
        }
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::None => return Some(json!({"type": "none"})),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Named(name) if request.tools.iter().any(|tool| tool.name == *name) => {
            json!({"type": "tool", "name": context.names.to_wire(name)})
        }
        ToolChoice::Named(name) => {
            let why = format!("`{name}` is not offered");
            context.notes.dropped("tool_choice", &why);
            json!({"type": "auto"})
        }
        ToolChoice::Allowed(_) => {
            let why = "the other tools are left out";
            context.notes.approximated("tool_choice", why);
            json!({"type": "auto"})
        }
    };
    let is_auto = choice.get("type") == Some(&json!("auto"));
    if thinks && !is_auto {
        let why = "a model that thinks cannot be made to call a tool";
        context.notes.approximated("tool_choice", why);
        choice = json!({"type": "auto"});
    }
    if request.parallel_tool_calls == Some(false) {
        set(&mut choice, "disable_parallel_tool_use", json!(true));
    } else if is_auto {
        return None;
    }
    Some(choice)
}
