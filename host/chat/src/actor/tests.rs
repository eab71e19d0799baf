use super::*;
use crate::PartKind;
use proptest::prelude::*;
use sectile_model::{
    BlockKind, CallInput, Message, MessageKind, Origin, ResultStatus, Role, ToolCall, ToolResult,
};
use serde_json::json;

fn item(role: Role, content: Vec<BlockKind>) -> Item {
    Item {
        kind: MessageKind::Normal,
        origin: Origin::appended(),
        message: Arc::new(Message {
            role,
            content: content.into_iter().map(Into::into).collect(),
        }),
        source: None,
    }
}

fn text(role: Role, text: &str) -> Item {
    item(role, vec![BlockKind::Text { text: text.into() }])
}

fn calls(ids: &[&str]) -> Item {
    let call = |id: &&str| {
        BlockKind::ToolCall(ToolCall {
            id: (*id).into(),
            name: "t".into(),
            input: CallInput::Parsed(json!({})),
        })
    };
    item(Role::Assistant, ids.iter().map(call).collect())
}

fn result(id: &str) -> Item {
    item(
        Role::Tool,
        vec![BlockKind::ToolResult(ToolResult {
            call_id: id.into(),
            name: "t".into(),
            status: ResultStatus::Success,
            output: vec![],
            artifacts: vec![],
        })],
    )
}

fn start(items: Vec<Item>) -> Result<ChatHandle, ChatError> {
    ChatState::start(Conversation {
        items,
        ..Conversation::default()
    })
}

#[test]
fn sr_3_a_system_message_is_refused_on_load_and_on_append() {
    let loaded = start(vec![text(Role::User, "a"), text(Role::System, "b")]);
    assert_eq!(
        loaded.err(),
        Some(ChatError::PersistedSystemMessage { index: 1 })
    );
    let chat = start(vec![]).unwrap();
    let refused = chat.append(vec![text(Role::User, "a"), text(Role::System, "b")]);
    assert_eq!(refused, Err(ChatError::SystemMessage));
    assert!(chat.view().unwrap().items.is_empty(), "all or none");
}

#[test]
fn sr_3_a_result_needs_an_open_call() {
    let chat = start(vec![calls(&["a", "b"]), result("a")]).unwrap();
    let unmatched = |id: &str| Err(ChatError::UnmatchedToolResult { call_id: id.into() });
    assert_eq!(chat.append(vec![result("a")]), unmatched("a"));
    assert_eq!(chat.append(vec![result("c")]), unmatched("c"));
    assert_eq!(
        chat.append(vec![text(Role::User, "x"), result("b")]),
        Ok(())
    );
    assert_eq!(chat.append(vec![result("b")]), unmatched("b"));
}

#[test]
fn sr_3_an_id_may_come_back_in_a_later_message_but_not_in_the_same() {
    let chat = start(vec![calls(&["a"])]).unwrap();
    assert_eq!(
        chat.append(vec![calls(&["a"]), result("a"), calls(&["a"])]),
        Ok(())
    );
    assert_eq!(
        chat.append(vec![calls(&["b", "b"])]),
        Err(ChatError::DuplicateToolCall {
            call_id: "b".into()
        })
    );
    assert_eq!(
        chat.append(vec![result("a")]),
        Ok(()),
        "a refusal changes nothing"
    );
}

#[test]
fn sr_1_a_view_has_no_draft_and_what_is_appended_takes_its_place() {
    let chat = start(vec![]).unwrap();
    let delta = |part, kind, text: &str| {
        chat.delta(DraftDelta {
            part,
            kind,
            text: text.into(),
        })
    };
    delta(0, PartKind::Thinking, "hm");
    delta(1, PartKind::Text, "a");
    delta(0, PartKind::Thinking, "m");
    delta(1, PartKind::Text, "b");
    let draft = chat.draft().unwrap().unwrap();
    let texts: Vec<_> = draft.parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(texts, ["hmm", "ab"]);
    assert!(chat.view().unwrap().items.is_empty());
    chat.append(vec![text(Role::Assistant, "ab")]).unwrap();
    assert_eq!(chat.draft().unwrap(), None);
    delta(0, PartKind::Text, "lost");
    chat.drop_draft();
    assert_eq!(
        (chat.draft().unwrap(), chat.view().unwrap().items.len()),
        (None, 1)
    );
}

#[test]
fn sr_1_a_view_keeps_what_it_saw() {
    let chat = start(vec![text(Role::User, "a")]).unwrap();
    let before = chat.view().unwrap();
    chat.append(vec![text(Role::Assistant, "b")]).unwrap();
    assert_eq!(
        (before.items.len(), chat.view().unwrap().items.len()),
        (1, 2)
    );
}

#[test]
fn cp_6_the_watermark_only_grows_also_across_a_projection() {
    let chat = start(vec![]).unwrap();
    assert_eq!(chat.advance_watermark(5).unwrap(), Some(5));
    assert_eq!(chat.advance_watermark(3).unwrap(), Some(5));
    chat.replace(Conversation {
        pruned_through_sequence: Some(2),
        ..Conversation::default()
    })
    .unwrap();
    assert_eq!(chat.view().unwrap().pruned_through_sequence, Some(5));
    let bad = Conversation {
        items: vec![text(Role::System, "s")],
        ..Conversation::default()
    };
    assert!(chat.replace(bad).is_err());
}

#[test]
fn a_projection_forgets_what_was_open() {
    let chat = start(vec![calls(&["a"])]).unwrap();
    chat.replace(Conversation::default()).unwrap();
    assert!(chat.append(vec![result("a")]).is_err());
}

proptest! {
    /// Whatever is appended in whatever pieces, what is accepted stands there
    /// in order and loads again into the same open calls.
    #[test]
    fn sr_1_a_loaded_conversation_goes_on_like_the_one_that_was_kept(steps in prop::collection::vec((0..4u8, 0..3u8), 0..40)) {
        let chat = start(vec![]).unwrap();
        let mut accepted = Vec::new();
        for (kind, id) in steps {
            let id = ["a", "b", "c"][usize::from(id)];
            let next = match kind {
                0 => text(Role::User, id),
                1 => calls(&[id]),
                2 => calls(&["a", "b"]),
                _ => result(id),
            };
            let again = start(accepted.clone()).unwrap();
            let checked = chat.check(vec![next.clone()]);
            let outcome = chat.append(vec![next.clone()]);
            prop_assert_eq!(&checked, &outcome);
            prop_assert_eq!(&again.append(vec![next.clone()]), &outcome);
            if outcome.is_ok() {
                accepted.push(next);
            }
            prop_assert_eq!(&chat.view().unwrap().items, &accepted);
        }
    }
}
