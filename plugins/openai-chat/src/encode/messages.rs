//! The conversation as messages: results right behind their calls, nothing
//! empty, and the order of roles that the service wants.

use super::Context;
use super::cache;
use super::content::Content;
use crate::PROTOCOL;
use crate::decode::{EXTRA, join};
use crate::dialect::{Echo, EmptyContent, IdStyle, LastAssistant, SystemRole};
use sectile_sdk::provider::{Block, BlockKind, CallInput, Role};
use sectile_wire::data;
use sectile_wire::ids::{IdRule, Ids};
use sectile_wire::state;
use sectile_wire::turns::{self, Answer, Piece, Turn};
use serde_json::{Map, Value, json};

/// What the user says before a conversation that the model begins.
const BEGIN: &str = "(The conversation begins here.)";
/// What the user says after a conversation that the model ends.
const GO_ON: &str = "(Please go on.)";
/// What the model says between a result and the user.
const BRIDGE: &str = "(I have the result.)";

/// A message that may still be marked.
pub(super) struct WireMessage {
    pub(super) role: &'static str,
    pub(super) content: Content,
    /// Everything besides role and content; for the model alone.
    fields: Map<String, Value>,
}

impl WireMessage {
    fn new(role: &'static str, content: Content) -> Self {
        Self {
            role,
            content,
            fields: Map::new(),
        }
    }

    fn of_text(role: &'static str, text: &str) -> Self {
        let mut content = Content::default();
        content.text(text);
        Self::new(role, content)
    }
}

pub(super) fn build(context: &mut Context) -> Value {
    let request = context.request;
    let rule = match context.dialect.ids {
        IdStyle::Any => IdRule {
            min: 1,
            max: 40,
            punctuation: true,
        },
        IdStyle::Alnum9 => IdRule {
            min: 9,
            max: 9,
            punctuation: false,
        },
    };
    let mut ids = Ids::new(rule);
    let turns = turns::turns(&request.messages, &mut ids, &mut context.notes, keeps);
    let turns = turns::retain(turns, is_said);
    let mut messages = Vec::new();
    for turn in &turns {
        match turn {
            Turn::User(pieces) => user(context, pieces, &mut messages),
            Turn::Assistant(pieces, answers) => assistant(context, pieces, answers, &mut messages),
        }
    }
    begin(context, &mut messages);
    close(context, &mut messages);
    bridge(context, &mut messages);
    system(context, &mut messages);
    cache::mark(context, &mut messages);
    let message = |message| print(context, message);
    messages.into_iter().map(message).collect()
}

/// Text that is nothing but white space says nothing.
fn keeps(_: Role, block: &Block) -> bool {
    match &block.kind {
        BlockKind::Text(text) | BlockKind::Refusal(text) => !text.trim().is_empty(),
        _ => true,
    }
}

/// A turn of thinking alone is none.
fn is_said(turn: &Turn) -> bool {
    let says = |piece: &Piece| {
        let kind = &piece.block.kind;
        !matches!(kind, BlockKind::Thinking(_) | BlockKind::Opaque(_))
    };
    match turn {
        Turn::User(_) => true,
        Turn::Assistant(pieces, _) => pieces.iter().any(says),
    }
}

/// Adds to what the user says already, as with the data of results.
fn user(context: &mut Context, pieces: &[Piece], messages: &mut Vec<WireMessage>) {
    let content = context.user_content(pieces);
    match messages.last_mut() {
        Some(last) if last.role == "user" => {
            last.content.hint |= content.hint;
            for part in content.into_parts() {
                last.content.part(part);
            }
        }
        _ => messages.push(WireMessage::new("user", content)),
    }
}

fn assistant(
    context: &mut Context,
    pieces: &[Piece],
    answers: &[Answer],
    messages: &mut Vec<WireMessage>,
) {
    let mut message = WireMessage::new("assistant", Content::default());
    let mut reasoning = Reasoning::default();
    for piece in pieces {
        message.content.hint |= piece.cache_hint;
        match &piece.block.kind {
            BlockKind::Text(text) => message.content.text(text),
            // A refusal stands alone or is text.
            BlockKind::Refusal(text) if context.dialect.refusals && is_only(pieces, piece) => {
                let part = json!({"type": "refusal", "refusal": text});
                message.content.part(part);
            }
            BlockKind::Refusal(text) => message.content.text(text),
            BlockKind::Data(data) => {
                let why = "the model's turn takes no data, a note stands in its place";
                context.notes.approximated("messages", why);
                message.content.text(&data::placeholder(data));
            }
            BlockKind::Thinking(thinking) => {
                let state = state::for_model(piece.block, PROTOCOL, &context.request.model);
                match state.filter(|_| context.dialect.reasoning != Echo::None) {
                    Some(state) => reasoning.add(thinking.text.as_deref(), &state),
                    None => {
                        let why = "thinking of another provider is not given to this one";
                        context.notes.dropped("messages", why);
                    }
                }
            }
            BlockKind::Opaque(opaque) => {
                let why = format!("this protocol has no form for `{}`", opaque.kind);
                context.notes.dropped("messages", &why);
            }
            BlockKind::ToolCall(_) | BlockKind::ToolResult(_) => {}
        }
    }
    reasoning.add_to(&mut message, context.dialect.reasoning, !answers.is_empty());
    if !answers.is_empty() {
        let calls = pieces.iter().map(|piece| piece.block).filter(is_call);
        let calls = calls.zip(answers).map(|(block, a)| call(context, block, a));
        let calls = calls.collect();
        message.fields.insert("tool_calls".to_owned(), calls);
    }
    messages.push(message);
    results(context, answers, messages);
}

/// Whether nothing but `piece` becomes content.
fn is_only(pieces: &[Piece], piece: &Piece) -> bool {
    let is_content = |kind: &BlockKind| {
        matches!(
            kind,
            BlockKind::Text(_) | BlockKind::Refusal(_) | BlockKind::Data(_)
        )
    };
    let mut content = pieces.iter().filter(|p| is_content(&p.block.kind));
    content.next() == Some(piece) && content.next().is_none()
}

fn results(context: &mut Context, answers: &[Answer], messages: &mut Vec<WireMessage>) {
    let mut shown = Content::default();
    for answer in answers {
        let (text, carried) = context.answer(answer);
        let mut message = WireMessage::of_text("tool", &text);
        message.content.hint = answer.cache_hint;
        message
            .fields
            .insert("tool_call_id".to_owned(), json!(answer.id));
        messages.push(message);
        for part in carried {
            shown.part(part);
        }
    }
    if !shown.is_empty() {
        messages.push(WireMessage::new("user", shown));
    }
}

fn is_call(block: &&Block) -> bool {
    matches!(block.kind, BlockKind::ToolCall(_))
}

fn call(context: &mut Context, block: &Block, answer: &Answer) -> Value {
    let arguments = match &answer.call.input {
        CallInput::Raw(text) => Err(json!(text)),
        CallInput::Parsed(json) => match serde_json::from_str::<Value>(json) {
            Ok(Value::Object(_)) => Ok(json.clone()),
            Ok(Value::Null) => Ok("{}".to_owned()),
            Ok(other) => Err(other),
            Err(_) => Err(json!(json)),
        },
    };
    let arguments = arguments.unwrap_or_else(|other| {
        let why = "arguments that are no object are wrapped in one";
        context.notes.approximated("messages", why);
        json!({"_raw": other}).to_string()
    });
    let name = context.names.to_wire(&answer.call.name);
    let function = json!({"name": name, "arguments": arguments});
    let mut call = json!({"id": answer.id, "type": "function", "function": function});
    let state = state::for_model(block, PROTOCOL, &context.request.model);
    if let Some(extra) = state.as_ref().and_then(|state| state.get(EXTRA))
        && let Value::Object(call) = &mut call
    {
        call.insert(EXTRA.to_owned(), extra.clone());
    }
    call
}

/// What the model thought in one turn, in the fields that it came in.
#[derive(Debug, Default)]
struct Reasoning {
    texts: Map<String, Value>,
    details: Vec<Value>,
}

impl Reasoning {
    fn add(&mut self, text: Option<&str>, state: &Value) {
        let field = state.get("field").and_then(Value::as_str);
        if let (Some(field), Some(text)) = (field, text) {
            let known = self.texts.get(field).and_then(Value::as_str);
            let all = format!("{}{text}", known.unwrap_or_default());
            self.texts.insert(field.to_owned(), json!(all));
        }
        if let Some(Value::Array(details)) = state.get("details") {
            for detail in details {
                join(&mut self.details, detail.clone());
            }
        }
    }

    fn add_to(self, message: &mut WireMessage, echo: Echo, has_calls: bool) {
        match echo {
            Echo::None => {}
            Echo::ReasoningContent => {
                let texts = self.texts.values().filter_map(Value::as_str);
                let text: String = texts.collect();
                if has_calls || !text.is_empty() {
                    let field = "reasoning_content".to_owned();
                    message.fields.insert(field, json!(text));
                }
            }
            Echo::AsReceived => {
                for (field, text) in self.texts {
                    if field == "content" {
                        let inner = json!([{"type": "text", "text": text}]);
                        let part = json!({"type": "thinking", "thinking": inner});
                        let content = std::mem::take(&mut message.content);
                        message.content.hint = content.hint;
                        message.content.part(part);
                        for part in content.into_parts() {
                            message.content.part(part);
                        }
                    } else {
                        message.fields.insert(field, text);
                    }
                }
                if !self.details.is_empty() {
                    let details = Value::Array(self.details);
                    message
                        .fields
                        .insert("reasoning_details".to_owned(), details);
                }
            }
        }
    }
}

fn begin(context: &mut Context, messages: &mut Vec<WireMessage>) {
    let first = messages.first();
    let wants_user = context.dialect.user_first && first.is_some_and(|m| m.role != "user");
    if first.is_none() || wants_user {
        let why = "the user has to speak first, a note of the user is put there";
        context.notes.approximated("messages", why);
        messages.insert(0, WireMessage::of_text("user", BEGIN));
    }
}

fn close(context: &mut Context, messages: &mut Vec<WireMessage>) {
    let Some(last) = messages.last_mut().filter(|m| m.role == "assistant") else {
        return;
    };
    match context.dialect.last_assistant {
        LastAssistant::Allow => {}
        LastAssistant::Prefix => {
            last.fields.insert("prefix".to_owned(), json!(true));
        }
        LastAssistant::Ask => {
            let why = "this service does not go on with the model's words, the user asks it to";
            context.notes.approximated("messages", why);
            messages.push(WireMessage::of_text("user", GO_ON));
        }
    }
}

fn bridge(context: &mut Context, messages: &mut Vec<WireMessage>) {
    if !context.dialect.bridge {
        return;
    }
    let mut bridged = Vec::with_capacity(messages.len());
    for message in messages.drain(..) {
        let after_tool = bridged
            .last()
            .is_some_and(|m: &WireMessage| m.role == "tool");
        if after_tool && message.role == "user" {
            let why = "the model has to speak between a result and the user";
            context.notes.approximated("messages", why);
            bridged.push(WireMessage::of_text("assistant", BRIDGE));
        }
        bridged.push(message);
    }
    *messages = bridged;
}

/// The system context is one message, and the first.
fn system(context: &mut Context, messages: &mut Vec<WireMessage>) {
    let mut content = Content::default();
    for part in &context.request.system {
        if !part.content.trim().is_empty() {
            content.text(&part.content);
            content.hint |= part.cache_hint;
        }
    }
    if content.is_empty() {
        return;
    }
    let role = match context.system_role() {
        SystemRole::Developer => "developer",
        SystemRole::User => {
            let why = "this model takes no system context, the user says it";
            context.notes.moved("system", why);
            if let Some(first) = messages.first_mut().filter(|m| m.role == "user") {
                let said = std::mem::replace(&mut first.content, content);
                first.content.hint |= said.hint;
                for part in said.into_parts() {
                    first.content.part(part);
                }
                return;
            }
            "user"
        }
        SystemRole::Auto | SystemRole::System => "system",
    };
    messages.insert(0, WireMessage::new(role, content));
}

fn print(context: &Context, message: WireMessage) -> Value {
    let mut out = Map::new();
    out.insert("role".to_owned(), json!(message.role));
    let content = if !message.content.is_empty() {
        message.content.into_json()
    } else {
        match context.dialect.empty_content {
            EmptyContent::Null => Value::Null,
            EmptyContent::Empty => json!(""),
        }
    };
    out.insert("content".to_owned(), content);
    out.extend(message.fields);
    Value::Object(out)
}
