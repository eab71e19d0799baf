//! Where the newest turn begins: what stands before it stays the same from
//! call to call (PV-10).

use sectile_model::{BlockKind, Message, Role};
use std::sync::Arc;

/// Place of the first message behind the last answer that asked for no tool;
/// 0 when there is none.
#[must_use]
pub fn newest_turn(messages: &[Arc<Message>]) -> usize {
    let ends_turn = |message: &Arc<Message>| {
        message.role == Role::Assistant
            && !message
                .content
                .iter()
                .any(|block| matches!(block.kind, BlockKind::ToolCall(_)))
    };
    // An answer at the very end has no newer turn behind it yet.
    let before = messages.iter().rposition(|message| !ends_turn(message));
    let settled = messages.get(..before.unwrap_or(0)).unwrap_or_default();
    settled
        .iter()
        .rposition(ends_turn)
        .map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_model::{CallInput, ToolCall};

    fn messages(roles: &str) -> Vec<Arc<Message>> {
        let message = |c| {
            let (role, kind) = match c {
                'u' => (Role::User, BlockKind::Text { text: "u".into() }),
                't' => (Role::Tool, BlockKind::Text { text: "t".into() }),
                'c' => (
                    Role::Assistant,
                    BlockKind::ToolCall(ToolCall {
                        id: "c".into(),
                        name: "n".into(),
                        input: CallInput::Raw(String::new()),
                    }),
                ),
                _ => (Role::Assistant, BlockKind::Text { text: "a".into() }),
            };
            Arc::new(Message {
                role,
                content: vec![kind.into()],
            })
        };
        roles.chars().map(message).collect()
    }

    #[test]
    fn pv_10_the_newest_turn_begins_behind_the_last_answer() {
        for (roles, begins) in [
            ("", 0),
            ("u", 0),
            ("uct", 0),
            ("uctau", 4),
            ("uauct", 2),
            ("uauctct", 2),
            ("uaua", 2),
            ("ua", 0),
        ] {
            assert_eq!(newest_turn(&messages(roles)), begins, "{roles}");
        }
    }
}
