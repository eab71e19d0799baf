//! CE-9: every call is followed directly by its one result.

use crate::normalise::Displaced;
use crate::prepare::{Entry, Report};
use crate::provenance::{MessageOrigin, Rule};
use sectile_model::{
    Block, BlockKind, Message, MessageKind, ResultBlock, ResultStatus, Role, ToolCall, ToolResult,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What stands in for a result that never came.
const UNAVAILABLE: &str =
    "Tool result unavailable: the previous turn ended before a durable result was recorded.";

/// Puts each result behind its call, one message each, in call order; fills in
/// what is missing and leaves out what answers nothing. Linear in the number
/// of messages and results.
pub(crate) fn pair(entries: Vec<Entry>, displaced: Displaced, report: &mut Report) -> Vec<Entry> {
    let mut paired = Vec::with_capacity(entries.len());
    let mut rest: VecDeque<Entry> = entries.into();
    while let Some(entry) = rest.pop_front() {
        match entry.message.role {
            // Its run was taken with its assistant message; this one has none.
            Role::Tool => report.dropped_tool_results += entry.message.content.len() as u64,
            Role::Assistant => {
                let scope = scope(&mut rest, displaced);
                answer(entry, scope, &mut paired, report);
            }
            Role::User | Role::System => paired.push(entry),
        }
    }
    paired
}

/// What follows an assistant message and may hold its results.
#[derive(Default)]
struct Scope {
    tools: Vec<Entry>,
    /// How many of `tools` stand right behind the assistant message.
    in_place: usize,
    others: Vec<Entry>,
}

fn scope(rest: &mut VecDeque<Entry>, displaced: Displaced) -> Scope {
    let mut scope = Scope::default();
    while let Some(next) = rest.pop_front_if(|next| match next.message.role {
        Role::Tool => true,
        Role::Assistant => false,
        Role::User | Role::System => displaced == Displaced::Hoist,
    }) {
        if next.message.role == Role::Tool {
            scope.in_place += usize::from(scope.others.is_empty());
            scope.tools.push(next);
        } else {
            scope.others.push(next);
        }
    }
    scope
}

/// One result with the message it stands in.
struct Found {
    entry: Entry,
    /// Place of the result in its message.
    block: usize,
    in_place: bool,
    position: usize,
}

fn answer(assistant: Entry, scope: Scope, paired: &mut Vec<Entry>, report: &mut Report) {
    let message = Arc::clone(&assistant.message);
    paired.push(assistant);
    let mut results = by_call(&scope);
    let mut furthest = 0;
    for call in message.content.iter().filter_map(call_of) {
        let Some(found) = results
            .get_mut(call.id.as_str())
            .and_then(VecDeque::pop_front)
        else {
            report.synthesized_tool_results += 1;
            paired.push(unavailable(call));
            continue;
        };
        let moved = !found.in_place || found.position < furthest;
        report.reordered_tool_results += u64::from(moved);
        furthest = furthest.max(found.position);
        paired.push(placed(found, call, moved));
    }
    report.dropped_tool_results += results.values().map(VecDeque::len).sum::<usize>() as u64;
    paired.extend(scope.others);
}

fn by_call(scope: &Scope) -> BTreeMap<String, VecDeque<Found>> {
    let mut results: BTreeMap<String, VecDeque<Found>> = BTreeMap::new();
    let mut position = 0;
    for (n, entry) in scope.tools.iter().enumerate() {
        for (at, block) in entry.message.content.iter().enumerate() {
            let BlockKind::ToolResult(result) = &block.kind else {
                continue;
            };
            let found = Found {
                entry: entry.clone(),
                block: at,
                in_place: n < scope.in_place,
                position,
            };
            results
                .entry(result.call_id.clone())
                .or_default()
                .push_back(found);
            position += 1;
        }
    }
    results
}

fn call_of(block: &Block) -> Option<&ToolCall> {
    match &block.kind {
        BlockKind::ToolCall(call) => Some(call),
        _ => None,
    }
}

fn placed(found: Found, call: &ToolCall, moved: bool) -> Entry {
    let Found {
        mut entry, block, ..
    } = found;
    if moved {
        entry.rules.push(Rule::Moved);
    }
    let content = &entry.message.content;
    let is_named =
        |block: &Block| matches!(&block.kind, BlockKind::ToolResult(r) if r.name == call.name);
    // Most results stand alone and are shared with the conversation.
    if content.len() > 1 || !content.iter().all(is_named) {
        let mut content: Vec<_> = content.iter().skip(block).take(1).cloned().collect();
        for block in &mut content {
            if let BlockKind::ToolResult(result) = &mut block.kind {
                result.name.clone_from(&call.name);
            }
        }
        entry.message = Arc::new(Message {
            role: Role::Tool,
            content,
        });
    }
    entry
}

fn unavailable(call: &ToolCall) -> Entry {
    let result = ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        status: ResultStatus::Interrupted,
        output: vec![ResultBlock::Text {
            text: UNAVAILABLE.to_owned(),
        }],
        artifacts: Vec::new(),
    };
    Entry {
        message: Arc::new(Message {
            role: Role::Tool,
            content: vec![BlockKind::ToolResult(result).into()],
        }),
        kind: MessageKind::Normal,
        origin: MessageOrigin::Synthesized,
        source: None,
        rules: vec![Rule::ResultUnavailable],
    }
}
