//! The conversation as messages of alternating roles: results first and
//! together, nothing empty, the user first.

use super::Context;
use super::cache::Built;
use super::content::{set, text_block};
use sectile_sdk::provider::{Block, BlockKind, Role};
use sectile_wire::ids::{IdRule, Ids};
use sectile_wire::turns::{self, Answer, Piece, Turn};
use serde_json::{Value, json};

/// Ids of calls.
const IDS: IdRule = IdRule {
    min: 1,
    max: 64,
    punctuation: true,
};

const USER: &str = "user";
const ASSISTANT: &str = "assistant";

/// What the user says before a conversation that the model begins.
const BEGIN: &str = "(The conversation begins here.)";
/// What the user says after a conversation that the model ends.
const GO_ON: &str = "(Please go on.)";

/// One message of the body.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WireMessage {
    pub(super) role: &'static str,
    pub(super) blocks: Vec<Built>,
}

/// The messages of the body. Neighbours have different roles.
#[derive(Debug, Default)]
pub(super) struct Messages(Vec<WireMessage>);

pub(super) fn build(context: &mut Context) -> Messages {
    let mut messages = Messages::default();
    let request = context.request;
    let mut ids = Ids::new(IDS);
    let turns = turns::turns(&request.messages, &mut ids, &mut context.notes, keeps);
    for turn in &turns {
        match turn {
            Turn::User(pieces) => {
                for piece in pieces {
                    if let Some(value) = context.user_block(piece.block) {
                        messages.push(USER, value, piece.cache_hint);
                    }
                }
            }
            Turn::Assistant(pieces, answers) => {
                let blocks = assistant(context, pieces, answers);
                for built in blocks {
                    messages.push(ASSISTANT, built.value, built.hint);
                }
                for answer in answers {
                    messages.push(USER, context.answer(answer), answer.cache_hint);
                }
            }
        }
    }
    if messages.0.first().is_none_or(|first| first.role != USER) {
        let why = "the user has to speak first, a note of the user is put there";
        context.notes.approximated("messages", why);
        let blocks = vec![Built {
            value: text_block(BEGIN),
            hint: false,
        }];
        messages.0.insert(0, WireMessage { role: USER, blocks });
    }
    messages
}

/// Text that is nothing but white space is refused.
fn keeps(_: Role, block: &Block) -> bool {
    match &block.kind {
        BlockKind::Text(text) | BlockKind::Refusal(text) => !text.trim().is_empty(),
        _ => true,
    }
}

/// The model's blocks. Thinking must not be the last of them.
fn assistant(context: &mut Context, pieces: &[Piece], answers: &[Answer]) -> Vec<Built> {
    let mut ids = answers.iter().map(|answer| answer.id.as_str());
    let mut blocks = Vec::new();
    for piece in pieces {
        let id = match piece.block.kind {
            BlockKind::ToolCall(_) => ids.next(),
            _ => None,
        };
        if let Some(value) = context.assistant_block(piece.block, id) {
            let hint = piece.cache_hint;
            blocks.push(Built { value, hint });
        } else if piece.cache_hint
            && let Some(last) = blocks.last_mut()
        {
            last.hint = true;
        }
    }
    while blocks.pop_if(|last| is_thinking(last)).is_some() {
        let why = "thinking that nothing follows is refused";
        context.notes.dropped("messages", why);
    }
    blocks
}

fn is_thinking(block: &Built) -> bool {
    matches!(block.kind(), "thinking" | "redacted_thinking")
}

impl Messages {
    fn push(&mut self, role: &'static str, value: Value, hint: bool) {
        let built = Built { value, hint };
        match self.0.last_mut() {
            Some(last) if last.role == role => last.blocks.push(built),
            _ => self.0.push(WireMessage {
                role,
                blocks: vec![built],
            }),
        }
    }

    /// Makes the end one that the model can answer to.
    pub(super) fn close(&mut self, context: &mut Context, thinks: bool) {
        let Some(last) = self.0.last_mut().filter(|last| last.role == ASSISTANT) else {
            return;
        };
        match last.blocks.last_mut() {
            // The provider paused and goes on from exactly this.
            Some(block) if !["text", "tool_use"].contains(&block.kind()) => return,
            Some(block) if block.kind() == "text" && context.model.prefill && !thinks => {
                let text = block.value.get("text").and_then(Value::as_str);
                let text = text.unwrap_or_default().trim_end().to_owned();
                set(&mut block.value, "text", json!(text));
                return;
            }
            _ => {}
        }
        let why = "this model does not go on with its own words, the user asks it to";
        context.notes.approximated("messages", why);
        self.push(USER, text_block(GO_ON), false);
    }

    /// Whether the model is in the midst of calling tools and did not think
    /// before it did, as far as these messages tell.
    pub(super) fn calls_without_thinking(&self) -> bool {
        let mut rest = self.0.iter().rev().peekable();
        let mut calls = false;
        while let Some(results) = rest.next() {
            let only_results = results.blocks.iter().all(|b| b.kind() == "tool_result");
            let Some(assistant) = rest.next() else { break };
            if results.role != USER || !only_results {
                break;
            }
            if assistant.blocks.first().is_some_and(is_thinking) {
                return false;
            }
            calls = true;
        }
        calls
    }

    pub(super) fn uses_files(&self) -> bool {
        let has_file = |block: &Value| block.pointer("/source/file_id").is_some();
        self.0.iter().flat_map(|m| &m.blocks).any(|block| {
            let inner = block.value.get("content").and_then(Value::as_array);
            has_file(&block.value) || inner.is_some_and(|inner| inner.iter().any(has_file))
        })
    }

    pub(super) fn list(&mut self) -> &mut [WireMessage] {
        &mut self.0
    }

    pub(super) fn into_json(self) -> Value {
        let message = |message: WireMessage| {
            let content = super::cache::values(message.blocks);
            json!({"role": message.role, "content": content})
        };
        self.0.into_iter().map(message).collect()
    }
}
