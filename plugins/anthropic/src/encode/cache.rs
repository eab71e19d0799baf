//! Where the provider's prompt cache may end (PV-10).

use super::Context;
use super::messages::WireMessage;
use crate::capabilities::CACHE_MARKS;
use serde_json::{Value, json};

/// A block of the body, and whether a prompt cache may end behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Built {
    pub(super) value: Value,
    pub(super) hint: bool,
}

impl Built {
    /// The protocol's name for the kind of block; tools have none.
    pub(super) fn kind(&self) -> &str {
        let kind = self.value.get("type").and_then(Value::as_str);
        kind.unwrap_or_default()
    }

    /// A mark on thinking, on deferred tools and on what only the provider
    /// understands is refused.
    fn can_be_marked(&self) -> bool {
        let is_deferred = self.value.get("defer_loading") == Some(&json!(true));
        let known = ["", "text", "image", "document", "tool_use", "tool_result"];
        !is_deferred && known.contains(&self.kind())
    }

    fn mark(&mut self) {
        if let Value::Object(block) = &mut self.value {
            block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
        }
    }

    fn is_marked(&self) -> bool {
        self.value.get("cache_control").is_some()
    }
}

pub(super) fn values(built: Vec<Built>) -> Value {
    built.into_iter().map(|built| built.value).collect()
}

/// Marks what is hinted at: the system context and the tools first, then the
/// messages, the newest first, as long as marks are left.
pub(super) fn mark(
    context: &mut Context,
    system: &mut [Built],
    tools: &mut [Built],
    messages: &mut [WireMessage],
) {
    let mut left = CACHE_MARKS;
    let messages = messages.iter_mut().flat_map(|m| m.blocks.iter_mut());
    for blocks in [
        system.iter_mut().collect::<Vec<_>>(),
        tools.iter_mut().collect(),
        messages.collect(),
    ] {
        if !mark_newest(blocks, &mut left) {
            let why = format!("at most {CACHE_MARKS} boundaries are taken");
            context.notes.dropped("cache_hint", &why);
        }
    }
}

/// Marks the last block at or before each hint; false when marks ran out.
fn mark_newest(mut blocks: Vec<&mut Built>, left: &mut usize) -> bool {
    let mut wanted = false;
    for block in blocks.iter_mut().rev() {
        wanted |= block.hint;
        if wanted && block.can_be_marked() && !block.is_marked() {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            wanted = false;
            block.mark();
        }
    }
    true
}
