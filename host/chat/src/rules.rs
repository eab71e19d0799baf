//! What may be appended to what is there (SR-3).

use crate::error::ChatError;
use sectile_model::{BlockKind, Item, Message, Role};
use std::collections::BTreeSet;

/// The calls of the last assistant message that have no result yet. A later
/// assistant message closes them: providers use ids again in later turns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OpenCalls(BTreeSet<String>);

impl OpenCalls {
    /// The open calls at the end of `items`. What is stored is taken as it is,
    /// but for system messages.
    pub(crate) fn load(items: &[Item]) -> Result<Self, ChatError> {
        let is_system = |item: &Item| item.message.role == Role::System;
        if let Some(index) = items.iter().position(is_system) {
            return Err(ChatError::PersistedSystemMessage { index });
        }
        let last = items
            .iter()
            .rposition(|i| i.message.role == Role::Assistant);
        let mut open = Self::default();
        for item in last.and_then(|at| items.get(at..)).unwrap_or_default() {
            match item.message.role {
                Role::Assistant => open.0 = calls(&item.message).map(str::to_owned).collect(),
                _ => results(&item.message).for_each(|id| {
                    open.0.remove(id);
                }),
            }
        }
        Ok(open)
    }

    /// The open calls after `items` were appended.
    pub(crate) fn after(&self, items: &[Item]) -> Result<Self, ChatError> {
        let mut open = self.clone();
        for item in items {
            open.append(&item.message)?;
        }
        Ok(open)
    }

    fn append(&mut self, message: &Message) -> Result<(), ChatError> {
        match message.role {
            Role::System => return Err(ChatError::SystemMessage),
            Role::Assistant => {
                self.0.clear();
                for id in calls(message) {
                    if !self.0.insert(id.to_owned()) {
                        return Err(ChatError::DuplicateToolCall {
                            call_id: id.to_owned(),
                        });
                    }
                }
            }
            Role::User | Role::Tool => {}
        }
        for id in results(message) {
            if !self.0.remove(id) {
                return Err(ChatError::UnmatchedToolResult {
                    call_id: id.to_owned(),
                });
            }
        }
        Ok(())
    }
}

fn calls(message: &Message) -> impl Iterator<Item = &str> {
    message
        .content
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::ToolCall(call) => Some(call.id.as_str()),
            _ => None,
        })
}

fn results(message: &Message) -> impl Iterator<Item = &str> {
    message
        .content
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::ToolResult(result) => Some(result.call_id.as_str()),
            _ => None,
        })
}
