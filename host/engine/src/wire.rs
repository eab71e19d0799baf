//! What all protocols want of a conversation before an adapter prints it (PV-3).

use sectile_model::{Block, BlockKind, Message, ModelRequest, Role};
use std::sync::Arc;

/// `request` without blank text and without messages that say nothing, and with
/// neighbours of one role in one message.
///
/// Text that carries provider state stays, however blank. Tool messages are left
/// alone, and nothing is added to a message with calls: what [`crate::prepare`]
/// has paired stays paired. Doing it twice changes nothing more.
#[must_use]
pub fn for_provider(request: ModelRequest) -> ModelRequest {
    let mut messages: Vec<Arc<Message>> = Vec::with_capacity(request.messages.len());
    for message in request.messages.into_iter().filter_map(said) {
        match messages.last_mut() {
            Some(last) if merges(last, &message) => {
                let content = Arc::unwrap_or_clone(message).content;
                Arc::make_mut(last).content.extend(content);
            }
            _ => messages.push(message),
        }
    }
    ModelRequest {
        messages,
        ..request
    }
}

/// The message without its blank text; `None` when nothing is left.
fn said(mut message: Arc<Message>) -> Option<Arc<Message>> {
    if message.content.iter().any(is_blank) {
        Arc::make_mut(&mut message).content.retain(|b| !is_blank(b));
    }
    (!message.content.is_empty()).then_some(message)
}

fn is_blank(block: &Block) -> bool {
    block.state.is_none() && block.text().is_some_and(|text| text.trim().is_empty())
}

fn merges(last: &Message, next: &Message) -> bool {
    let is_call = |block: &Block| matches!(block.kind, BlockKind::ToolCall(_));
    last.role == next.role
        && match last.role {
            Role::User => true,
            Role::Assistant => !last.content.iter().any(is_call),
            Role::Tool | Role::System => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn request(messages: &Value) -> ModelRequest {
        let request = json!({"model": "m", "system": [], "messages": messages, "tools": [], "max_output_tokens": 1});
        serde_json::from_value(request).unwrap()
    }

    fn messages(given: &Value) -> Value {
        serde_json::to_value(for_provider(request(given)).messages).unwrap()
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn call(id: &str) -> Value {
        json!({"type": "tool_call", "id": id, "name": "n", "input": {}})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool", "content": [
            {"type": "tool_result", "call_id": id, "name": "n", "status": "success", "output": []}]})
    }

    fn user(content: &[Value]) -> Value {
        json!({"role": "user", "content": content})
    }

    fn assistant(content: &[Value]) -> Value {
        json!({"role": "assistant", "content": content})
    }

    #[test]
    fn pv_3_blank_text_and_empty_messages_disappear() {
        let signed = json!({"type": "text", "text": "", "state": {"protocol": "p", "model": "m", "data": 1}});
        for (given, expected) in [
            (
                json!([user(&[text(""), text("a")])]),
                json!([user(&[text("a")])]),
            ),
            (json!([user(&[text(" \n\u{2003}")]), user(&[])]), json!([])),
            (
                json!([assistant(std::slice::from_ref(&signed))]),
                json!([assistant(std::slice::from_ref(&signed))]),
            ),
            (
                json!([
                    user(&[text("a")]),
                    assistant(&[text("")]),
                    user(&[text("b")])
                ]),
                json!([user(&[text("a"), text("b")])]),
            ),
        ] {
            assert_eq!(messages(&given), expected, "{given}");
        }
    }

    #[test]
    fn pv_3_neighbours_of_one_role_become_one_message_and_calls_keep_their_results() {
        let given = json!([
            user(&[text("a")]),
            user(&[text("b")]),
            assistant(&[text("c")]),
            assistant(&[call("1"), call("2")]),
            result("1"),
            result("2"),
            user(&[text("d")]),
            assistant(&[call("1")]),
            assistant(&[call("1")]),
        ]);
        let expected = json!([
            user(&[text("a"), text("b")]),
            assistant(&[text("c"), call("1"), call("2")]),
            result("1"),
            result("2"),
            user(&[text("d")]),
            assistant(&[call("1")]),
            assistant(&[call("1")]),
        ]);
        assert_eq!(messages(&given), expected);
    }

    /// Conversations as `prepare` leaves them: each call with its result behind it.
    fn paired() -> impl Strategy<Value = Value> {
        let said = prop::collection::vec("[a ]{0,2}", 0..3);
        let turn = (0..3, said, 0..3usize);
        prop::collection::vec(turn, 0..12).prop_map(|turns| {
            let mut messages = Vec::new();
            for (n, (kind, said, calls)) in turns.into_iter().enumerate() {
                let mut content: Vec<_> = said.iter().map(|said| text(said)).collect();
                if kind == 0 {
                    messages.push(user(&content));
                    continue;
                }
                let ids: Vec<_> = (0..calls).map(|call| format!("{n}.{call}")).collect();
                content.extend(ids.iter().map(|id| call(id)));
                messages.push(assistant(&content));
                messages.extend(ids.iter().map(|id| result(id)));
            }
            Value::Array(messages)
        })
    }

    fn blocks(request: &ModelRequest) -> Vec<(Role, Block)> {
        let of = |m: &Arc<Message>| {
            let role = m.role;
            m.content.clone().into_iter().map(move |b| (role, b))
        };
        request.messages.iter().flat_map(of).collect()
    }

    proptest! {
        #[test]
        fn pv_3_done_twice_is_done_once_and_order_and_pairs_stay(given in paired()) {
            let before = request(&given);
            let after = for_provider(before.clone());
            prop_assert_eq!(&for_provider(after.clone()), &after);
            let mut kept = blocks(&before);
            kept.retain(|(_, block)| !is_blank(block));
            prop_assert_eq!(blocks(&after), kept);
            let roles: Vec<_> = after.messages.iter().map(|m| m.role).collect();
            prop_assert!(roles.windows(2).all(|w| w[0] != w[1] || w[0] == Role::Tool));
            let mut open: Vec<String> = Vec::new();
            for message in &after.messages {
                prop_assert!(open.is_empty() || message.role == Role::Tool);
                for block in &message.content {
                    match &block.kind {
                        BlockKind::ToolCall(call) => open.push(call.id.clone()),
                        BlockKind::ToolResult(result) => prop_assert_eq!(open.remove(0), result.call_id.clone()),
                        _ => {}
                    }
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}
