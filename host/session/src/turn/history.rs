//! `conversation_history`: what a compaction took out of sight, read back
//! (CP-1).

use sectile_model::{
    BlockKind, CallInput, Item, Message, MessageKind, ResultBlock, Role, Sequence, ToolDefinition,
};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const CONVERSATION_HISTORY: &str = "conversation_history";
const DEFAULT_PAGE: u32 = 20;
const MAX_PAGE: u32 = 50;
/// Bytes of a page, below the ceiling of a tool result (CE-8).
const MAX_PAGE_BYTES: usize = 24_000;
/// Bytes of one message of a page.
const MAX_MESSAGE_BYTES: usize = 8_000;

/// What a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// Messages behind this one.
    #[serde(default)]
    pub(crate) after_sequence: Sequence,
    /// At most so many.
    #[serde(default = "default_page")]
    pub(crate) limit: u32,
}

fn default_page() -> u32 {
    DEFAULT_PAGE
}

impl Page {
    pub(crate) fn parse(input: &Value) -> Result<Self, String> {
        let page: Self = serde_json::from_value(input.clone()).map_err(|e| e.to_string())?;
        if !(1..=MAX_PAGE).contains(&page.limit) {
            return Err(format!("limit is {}; it is 1 to {MAX_PAGE}", page.limit));
        }
        Ok(page)
    }
}

pub(crate) fn definition() -> ToolDefinition {
    ToolDefinition {
        name: CONVERSATION_HISTORY.to_owned(),
        description: "Reads messages of this conversation that a compaction replaced by its \
                      summary, oldest first. Nothing else is lost: what is not in the summary \
                      can be read back here."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "after_sequence": {"type": "integer", "minimum": 0, "description": "Go on behind this message"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "description": "Messages at the most, 20 by default"}
            },
            "additionalProperties": false
        }),
    }
}

/// One line for each message, as JSON; stops when the page is full and says
/// where to go on.
pub(crate) fn render(items: &[Item], boundary: Sequence) -> String {
    let mut page = String::new();
    let mut last = None;
    for item in items {
        let Some(sequence) = item.origin.sequence() else {
            continue;
        };
        let line = line(sequence, item);
        if !page.is_empty() && page.len() + line.len() > MAX_PAGE_BYTES {
            break;
        }
        page.push_str(&line);
        page.push('\n');
        last = Some(sequence);
    }
    match last {
        None => "There are no more replaced messages.".to_owned(),
        Some(last) if last < boundary => {
            format!("{page}More follow; go on with after_sequence {last}.")
        }
        Some(_) => format!("{page}These were the last ones."),
    }
}

fn line(sequence: Sequence, item: &Item) -> String {
    let role = match (item.kind, item.message.role) {
        (MessageKind::SkillInstruction, _) => "skill",
        (MessageKind::AgentMessage, _) => "agent",
        (MessageKind::WorldState, _) => "world_state",
        (MessageKind::Normal, Role::User) => "user",
        (MessageKind::Normal, Role::Assistant) => "assistant",
        (MessageKind::Normal, Role::Tool) => "tool",
        (MessageKind::Normal, Role::System) => "system",
    };
    let mut text = text(&item.message);
    if text.len() > MAX_MESSAGE_BYTES {
        let cut = text.floor_char_boundary(MAX_MESSAGE_BYTES);
        text.truncate(cut);
        text.push('…');
    }
    json!({"sequence": sequence, "role": role, "text": text}).to_string()
}

fn text(message: &Message) -> String {
    let mut parts = Vec::new();
    for block in &message.content {
        match &block.kind {
            BlockKind::Text { text } | BlockKind::Refusal { text } => parts.push(text.clone()),
            BlockKind::Data(data) => parts.push(format!("[{}]", data.media_type)),
            // Thinking was for its turn; opaque blocks are for their provider.
            BlockKind::Thinking(_) | BlockKind::Opaque { .. } => {}
            BlockKind::ToolCall(call) => parts.push(match &call.input {
                CallInput::Parsed(input) => format!("[calls {} {input}]", call.name),
                CallInput::Raw(_) => format!("[calls {}, cut off]", call.name),
            }),
            BlockKind::ToolResult(result) => {
                parts.extend(result.output.iter().map(|block| match block {
                    ResultBlock::Text { text } => text.clone(),
                    ResultBlock::Data(data) => format!("[{}]", data.media_type),
                }));
            }
        }
    }
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_model::Origin;
    use std::sync::Arc;

    fn item(sequence: Sequence, text: &str) -> Item {
        let text = BlockKind::Text {
            text: text.to_owned(),
        };
        Item {
            kind: MessageKind::Normal,
            origin: Origin::Real {
                message_id: None,
                sequence: Some(sequence),
            },
            message: Arc::new(Message {
                role: Role::User,
                content: vec![text.into()],
            }),
            source: None,
        }
    }

    #[test]
    fn cp_1_a_page_has_1_to_50_messages_and_20_by_default() {
        let page = |input| Page::parse(&input);
        assert_eq!(
            page(json!({})),
            Ok(Page {
                after_sequence: 0,
                limit: 20
            })
        );
        assert!(page(json!({"limit": 50})).is_ok() && page(json!({"limit": 1})).is_ok());
        for bad in [
            json!({"limit": 0}),
            json!({"limit": 51}),
            json!({"x": 1}),
            json!({"after_sequence": -1}),
            json!(1),
        ] {
            assert!(page(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn cp_1_a_page_says_where_to_go_on_and_fits_a_tool_result() {
        let items: Vec<_> = (1..=5).map(|n| item(n, &"漢".repeat(3_000))).collect();
        let page = render(&items, 9);
        assert!(
            page.len() < 32_000 && page.contains("after_sequence 2"),
            "{}",
            page.len()
        );
        assert!(render(&items[4..], 5).ends_with("These were the last ones."));
        assert_eq!(render(&[], 5), "There are no more replaced messages.");
    }
}
