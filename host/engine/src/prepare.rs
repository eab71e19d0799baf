//! The steps in their order, and what comes out of them (CE-11, CE-12).

use crate::budget::{Budget, estimate_tokens};
use crate::compaction::spill_reference;
use crate::limits::{CompactRule, Limits, MAX_SYSTEM_PART_TOKENS};
use crate::normalise::{self, Displaced};
pub use crate::provenance::MessageOrigin;
use crate::provenance::{MessageProvenance, Rule, Span, spans};
use crate::{EngineError, pairing, project, prune};
use sectile_model::{
    Block, BlockKind, Conversation, Item, Message, MessageKind, ModelCapabilities, ModelRequest,
    Role, SectionSource, SystemPart, ToolDefinition, ToolResult,
};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The three regions, and how to join them.
#[derive(Debug, Clone)]
pub struct ContextInput<'a> {
    /// The model that will read the request.
    pub model: &'a ModelCapabilities,
    /// When to compact.
    pub compact_rule: CompactRule,
    /// What becomes of displaced results.
    pub displaced: Displaced,
    /// The system context, in its final order (CE-5).
    pub system: &'a [SystemPart],
    /// The conversation.
    pub conversation: &'a Conversation,
    /// The advertised tools.
    pub tools: &'a [ToolDefinition],
}

/// What each step changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Results shortened by CE-7.
    pub pruned_tool_results: u64,
    /// Results bounded by CE-8.
    pub projected_tool_results: u64,
    /// Results filled in for calls without one.
    pub synthesized_tool_results: u64,
    /// Results left out: displaced, duplicate or without a call.
    pub dropped_tool_results: u64,
    /// Results moved to their call.
    pub reordered_tool_results: u64,
    /// Data blocks that the model does not accept.
    pub filtered_data_blocks: u64,
}

/// A request and all there is to know about it (CE-12).
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedModelCall {
    /// The request.
    pub request: ModelRequest,
    /// Its size.
    pub budget: Budget,
    /// What fits.
    pub limits: Limits,
    /// What the steps changed.
    pub report: Report,
    /// Where each message came from, in the order of the request.
    pub messages: Vec<MessageProvenance>,
}

impl PreparedModelCall {
    /// What produced each byte of the request's compact JSON, in order and
    /// without gaps (CE-19).
    #[must_use]
    pub fn spans(&self) -> Vec<Span<'_>> {
        spans(self)
    }
}

/// A message on its way through the steps.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) message: Arc<Message>,
    pub(crate) kind: MessageKind,
    pub(crate) origin: MessageOrigin,
    pub(crate) source: Option<Arc<SectionSource>>,
    pub(crate) rules: Vec<Rule>,
}

/// Composes the request. Pure: the same input gives the same bytes (CE-1).
///
/// # Errors
/// [`EngineError`] when the input breaks a rule that is not mended but refused.
pub fn prepare(input: &ContextInput<'_>) -> Result<PreparedModelCall, EngineError> {
    check_system(input.system)?;
    let mut report = Report::default();
    let items = &input.conversation.items;
    let mut entries = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        normalise::check(index, item, input.model.accepts_data)?;
        entries.push(copy(item, input.conversation, &mut report));
    }
    normalise::filter(&mut entries, input.model.accepts_data, &mut report);
    let entries = pairing::pair(entries, input.displaced, &mut report);
    let (messages, provenance) = entries.into_iter().map(split).unzip();
    let request = ModelRequest {
        model: input.model.name.clone(),
        system: input.system.to_vec(),
        messages,
        tools: input.tools.to_vec(),
        max_output_tokens: input.model.max_output_tokens,
    };
    let budget = Budget::measure(&request);
    Ok(PreparedModelCall {
        limits: Limits::new(
            input.model,
            input.compact_rule,
            budget.estimated_input_tokens,
        )?,
        request,
        budget,
        report,
        messages: provenance,
    })
}

fn split(entry: Entry) -> (Arc<Message>, MessageProvenance) {
    let provenance = MessageProvenance {
        kind: entry.kind,
        origin: entry.origin,
        section: entry.source,
        rules: entry.rules,
    };
    (entry.message, provenance)
}

fn check_system(parts: &[SystemPart]) -> Result<(), EngineError> {
    let mut keys = BTreeSet::new();
    for part in parts {
        let key = || part.key.clone();
        if part.key.trim().is_empty() {
            return Err(EngineError::EmptySystemKey);
        }
        if !keys.insert(&part.key) {
            return Err(EngineError::DuplicateSystemKey { key: key() });
        }
        if part.content.trim().is_empty() {
            return Err(EngineError::EmptySystemContent { key: key() });
        }
        let tokens = estimate_tokens(part);
        if tokens > MAX_SYSTEM_PART_TOKENS {
            return Err(EngineError::SystemPartTooLarge {
                key: key(),
                tokens,
                limit: MAX_SYSTEM_PART_TOKENS,
            });
        }
    }
    Ok(())
}

/// The item as it goes into the request: results pruned, projected and without
/// their artifacts, everything else shared.
fn copy(item: &Item, conversation: &Conversation, report: &mut Report) -> Entry {
    let mut entry = Entry {
        message: Arc::clone(&item.message),
        kind: item.kind,
        origin: MessageOrigin::of(&item.origin),
        source: item.source.clone(),
        rules: Vec::new(),
    };
    if item.message.role != Role::Tool {
        return entry;
    }
    let watermark = conversation.pruned_through_sequence;
    let old = item.origin.sequence().filter(|at| Some(*at) <= watermark);
    let blocks = &item.message.content;
    let short: Vec<_> = blocks
        .iter()
        .map(|block| match &block.kind {
            BlockKind::ToolResult(result) => {
                let reference = old.and_then(|at| {
                    let folder = conversation.spill_folder.as_deref()?;
                    Some(spill_reference(folder, at, &result.call_id))
                });
                let old = old.map(|_| reference.as_deref());
                shorten(result, old, &mut entry.rules, report)
            }
            _ => None,
        })
        .collect();
    if short.iter().any(Option::is_some) {
        let content = blocks.iter().zip(short).map(|(block, short)| match short {
            Some(result) => Block {
                kind: BlockKind::ToolResult(result),
                state: block.state.clone(),
            },
            None => block.clone(),
        });
        entry.message = Arc::new(Message {
            role: Role::Tool,
            content: content.collect(),
        });
    }
    entry
}

/// `old` results are pruned, with the place of their full text when it is kept.
fn shorten(
    result: &ToolResult,
    old: Option<Option<&str>>,
    rules: &mut Vec<Rule>,
    report: &mut Report,
) -> Option<ToolResult> {
    let mut short = None;
    if let Some(reference) = old
        && let Some(pruned) = prune::prune(result, reference)
    {
        report.pruned_tool_results += 1;
        rules.push(Rule::Pruned);
        short = Some(pruned);
    }
    if let Some(projected) = project::project(short.as_ref().unwrap_or(result)) {
        report.projected_tool_results += 1;
        rules.push(Rule::Projected);
        short = Some(projected);
    }
    if short.is_none() && !result.artifacts.is_empty() {
        short = Some(result.clone());
    }
    if let Some(short) = &mut short {
        short.artifacts.clear();
    }
    short
}
