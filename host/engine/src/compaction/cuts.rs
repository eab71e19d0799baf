//! Where a conversation may be cut (CP-2): never between a call and its
//! results, never before a result.

use sectile_model::{BlockKind, Item, Message, Role};
use std::collections::BTreeSet;

/// Places at which `items` may be cut, in order: a cut at `n` keeps
/// `items[n..]`. 0 and the end are always among them.
#[must_use]
pub fn legal_cuts(items: &[Item]) -> Vec<usize> {
    cuts(items.iter().map(|item| &*item.message))
}

/// Places at which `messages` may be cut, as [`legal_cuts`] gives them; linear.
pub(super) fn cuts<'a>(messages: impl Iterator<Item = &'a Message>) -> Vec<usize> {
    // At 0 nothing is cut.
    let mut legal = vec![0];
    let mut open: BTreeSet<&str> = BTreeSet::new();
    // Place of the call whose results may still come.
    let mut group = 0;
    let mut end = 0;
    for message in messages {
        let place = end;
        end += 1;
        match message.role {
            Role::Assistant if is_answer(message) => {
                group = place;
                open = calls(message).collect();
            }
            Role::Tool => {
                if results(message).any(|id| open.contains(id)) {
                    // Whatever stands between a call and its result stays with them.
                    while legal.pop_if(|cut| *cut > group).is_some() {}
                }
                continue;
            }
            Role::Assistant | Role::User | Role::System => {}
        }
        push_new(&mut legal, place);
    }
    push_new(&mut legal, end);
    legal
}

fn push_new(legal: &mut Vec<usize>, place: usize) {
    if legal.last().is_none_or(|last| *last < place) {
        legal.push(place);
    }
}

/// The nearest place that keeps at least the last `n` items.
#[must_use]
pub fn keep_last(items: &[Item], n: usize) -> usize {
    let wanted = items.len().saturating_sub(n);
    let cuts = legal_cuts(items);
    cuts.into_iter()
        .rev()
        .find(|cut| *cut <= wanted)
        .unwrap_or(0)
}

/// One of which nothing is left disappears from the request, and then the calls
/// before it are still open (CE-9).
fn is_answer(message: &Message) -> bool {
    let may_go = |kind: &BlockKind| matches!(kind, BlockKind::Data(_) | BlockKind::ToolResult(_));
    message.content.iter().any(|block| !may_go(&block.kind))
}

fn calls(message: &Message) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(|b| match &b.kind {
        BlockKind::ToolCall(call) => Some(call.id.as_str()),
        _ => None,
    })
}

fn results(message: &Message) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(|b| match &b.kind {
        BlockKind::ToolResult(result) => Some(result.call_id.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// `a` an answer, `-` one that says nothing, `u` a user, `1`/`2` an answer
    /// with so many calls, `x`/`y`/`?` results of the first, the second and an
    /// unknown call.
    fn messages(roles: &str) -> Vec<Message> {
        let call = |id| json!({"type": "tool_call", "id": id, "name": "n", "input": {}});
        let result = |id| json!({"type": "tool_result", "call_id": id, "name": "n", "status": "success", "output": []});
        let message = |c| {
            let (role, content): (_, Vec<Value>) = match c {
                'u' => ("user", vec![json!({"type": "text", "text": "u"})]),
                'a' => ("assistant", vec![json!({"type": "text", "text": "a"})]),
                '-' => ("assistant", vec![]),
                '1' => ("assistant", vec![call("x")]),
                '2' => ("assistant", vec![call("x"), call("y")]),
                id => ("tool", vec![result(id.to_string())]),
            };
            serde_json::from_value(json!({"role": role, "content": content})).unwrap()
        };
        roles.chars().map(message).collect()
    }

    #[test]
    fn cp_2_a_cut_is_never_between_a_call_and_its_results_nor_before_a_result() {
        for (roles, expected) in [
            ("", vec![0]),
            ("ua", vec![0, 1, 2]),
            ("u1xa", vec![0, 1, 3, 4]),
            ("u2yxu", vec![0, 1, 4, 5]),
            // Parallel results with something in between belong together.
            ("2xuyu", vec![0, 4, 5]),
            // Ids that are used again, and calls without a result.
            ("1x1xu", vec![0, 2, 4, 5]),
            ("1u1", vec![0, 1, 2, 3]),
            // A result that answers nothing goes with what stands before it.
            ("u?u", vec![0, 2, 3]),
            ("?u", vec![0, 1, 2]),
            // An answer that disappears from the request closes nothing.
            ("1-xu", vec![0, 3, 4]),
        ] {
            assert_eq!(cuts(messages(roles).iter()), expected, "{roles}");
        }
    }
}
