//! CE-9: what a provider would refuse is taken out of the request copy, and
//! calls and results are paired.

use crate::EngineError;
use crate::prepare::{Entry, Report};
use sectile_model::{
    Block, BlockKind, Item, Message, MessageKind, Origin, ResultBlock, Role, SyntheticReason,
    ToolResult,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What becomes of a real result that stands behind another message (CE-9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Displaced {
    /// It is left out, and its call gets the fixed text.
    #[default]
    Drop,
    /// It is moved to its call, as long as no other assistant message comes before it.
    Hoist,
}

/// Refuses system messages (CE-10), and data blocks in user requests when the
/// model accepts none.
pub(crate) fn check(index: usize, item: &Item, accepts_data: bool) -> Result<(), EngineError> {
    if item.message.role == Role::System {
        return Err(EngineError::SystemMessageInConversation { item_index: index });
    }
    if !accepts_data && is_user_request(item) && item.message.content.iter().any(is_data) {
        return Err(EngineError::UnsupportedUserData { item_index: index });
    }
    Ok(())
}

fn is_user_request(item: &Item) -> bool {
    let asked = match &item.origin {
        Origin::Real { .. } => true,
        Origin::Synthetic { reason, .. } => *reason == SyntheticReason::LastUserRequestReplay,
    };
    asked && item.kind == MessageKind::Normal && item.message.role == Role::User
}

/// Takes out what stands where no provider accepts it: data blocks that the
/// model does not take, tool results outside tool messages and tool calls
/// outside assistant messages. Entries without content disappear.
pub(crate) fn filter(entries: &mut Vec<Entry>, accepts_data: bool, report: &mut Report) {
    for entry in entries.iter_mut() {
        let role = entry.message.role;
        let keeps =
            |block: &Block| belongs(&block.kind, role) && (accepts_data || !has_data(block));
        if entry.message.content.iter().all(keeps) {
            continue;
        }
        let content = entry.message.content.iter();
        let content = content
            .filter_map(|block| kept(block, role, accepts_data, report))
            .collect();
        entry.message = Arc::new(Message { role, content });
    }
    entries.retain(|entry| !entry.message.content.is_empty());
}

fn belongs(kind: &BlockKind, role: Role) -> bool {
    match kind {
        BlockKind::ToolResult(_) => role == Role::Tool,
        BlockKind::ToolCall(_) => role == Role::Assistant,
        _ => role != Role::Tool,
    }
}

fn kept(block: &Block, role: Role, accepts_data: bool, report: &mut Report) -> Option<Block> {
    if !belongs(&block.kind, role) {
        report.dropped_tool_results += u64::from(matches!(block.kind, BlockKind::ToolResult(_)));
        return None;
    }
    match &block.kind {
        BlockKind::Data(_) if !accepts_data => {
            report.filtered_data_blocks += 1;
            None
        }
        BlockKind::ToolResult(result) if !accepts_data => {
            let output: Vec<_> = result
                .output
                .iter()
                .filter(|b| !is_result_data(b))
                .cloned()
                .collect();
            report.filtered_data_blocks += (result.output.len() - output.len()) as u64;
            Some(Block {
                kind: BlockKind::ToolResult(ToolResult {
                    output,
                    ..result.clone()
                }),
                state: block.state.clone(),
            })
        }
        _ => Some(block.clone()),
    }
}

fn is_data(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Data(_))
}

fn is_result_data(block: &ResultBlock) -> bool {
    matches!(block, ResultBlock::Data(_))
}

fn has_data(block: &Block) -> bool {
    match &block.kind {
        BlockKind::ToolResult(result) => result.output.iter().any(is_result_data),
        _ => is_data(block),
    }
}
