//! Laws of compaction, on random histories (CP acceptance).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod histories;

use histories::{displaced, history, model, run};
use proptest::prelude::*;
use sectile_engine::compaction::{
    CompactionError, Progress, Reminder, already_pruned, head, keep_last, last_user_request,
    legal_cuts, newly_pruned, progress, spill_reference, summary_request,
};
use sectile_engine::{CompactRule, ContextInput, Displaced};
use sectile_model::{
    Block, BlockKind, Conversation, Item, Message, MessageKind, ModelCapabilities, Origin, Role,
};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

fn repairs(conversation: &Conversation, displaced: Displaced) -> u64 {
    let report = run(conversation, displaced, true).report;
    report.synthesized_tool_results + report.dropped_tool_results
}

fn with_items(conversation: &Conversation, items: Vec<Item>) -> Conversation {
    Conversation {
        items,
        ..conversation.clone()
    }
}

fn user(text: &str, sequence: u64) -> Item {
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

fn input<'a>(conversation: &'a Conversation, model: &'a ModelCapabilities) -> ContextInput<'a> {
    ContextInput {
        model,
        compact_rule: CompactRule::Once,
        displaced: Displaced::Hoist,
        system: &[],
        conversation,
        tools: &[],
    }
}

/// Everything that a request says.
fn said(messages: &[Arc<Message>]) -> String {
    let texts = messages
        .iter()
        .flat_map(|m| &m.content)
        .filter_map(Block::text);
    texts.collect::<Vec<_>>().join("\n")
}

proptest! {
    #[test]
    fn cp_2_no_cut_leaves_more_to_repair(conversation in history(), displaced in displaced(), at in any::<prop::sample::Index>()) {
        let cuts = legal_cuts(&conversation.items);
        prop_assert_eq!((cuts.first(), cuts.last()), (Some(&0), Some(&conversation.items.len())));
        let cut = cuts[at.index(cuts.len())];
        let kept = with_items(&conversation, conversation.items[cut..].to_vec());
        prop_assert!(repairs(&kept, displaced) <= repairs(&conversation, displaced));
        if cut > 0 {
            prop_assert!(kept.items.first().is_none_or(|item| item.message.role != Role::Tool));
        }
    }

    #[test]
    fn cp_2_keeping_the_last_keeps_at_least_so_many_and_as_few_as_can_be(conversation in history(), n in 0usize..16) {
        let items = &conversation.items;
        let cut = keep_last(items, n);
        prop_assert!(items.len() - cut >= n.min(items.len()));
        let later = legal_cuts(items).into_iter().find(|legal| *legal > cut);
        prop_assert!(later.is_none_or(|legal| items.len() - legal < n));
    }

    #[test]
    fn cp_14_what_a_compaction_leaves_needs_no_repair_and_shows_the_last_request(conversation in history()) {
        let request = last_user_request(&conversation.items).cloned();
        let made = head(&conversation.items, "k", "summary", &Reminder::default());
        let Ok(request) = request else {
            prop_assert_eq!(made, Err(CompactionError::MissingLastUser));
            return Ok(());
        };
        prop_assert!(request.kind == MessageKind::Normal && request.message.role == Role::User);
        let head = made.unwrap();
        prop_assert_eq!(&head[0].message, &request.message);
        // Compacted again, the same request is shown, and never a summary or a reminder.
        prop_assert_eq!(&last_user_request(&head).unwrap().message, &request.message);
        let after = with_items(&conversation, head);
        prop_assert_eq!(repairs(&after, Displaced::Drop), 0);
        let (before, after) = (run(&conversation, Displaced::Drop, true), run(&after, Displaced::Drop, true));
        prop_assert_eq!((before.request.system, before.request.tools), (after.request.system, after.request.tools));
    }

    #[test]
    fn cp_10_a_summary_s_request_has_no_tools_no_world_state_and_fits(
        conversation in history(), window in 1_600u64..60_000, at in any::<prop::sample::Index>(), accepts_data in any::<bool>(),
    ) {
        let mut items = conversation.items.clone();
        items.insert(at.index(items.len() + 1), user("please", 98));
        let conversation = with_items(&conversation, items);
        let model = ModelCapabilities { context_window: window, max_output_tokens: 1_000, ..model(accepts_data) };
        let asked = match summary_request(&input(&conversation, &model)) {
            Ok(asked) => asked,
            Err(error) => {
                prop_assert_eq!(error, CompactionError::NoRoom);
                return Ok(());
            }
        };
        prop_assert!(asked.input_tokens <= window - 1_000);
        prop_assert!(asked.request.tools.is_empty() && asked.request.max_output_tokens == 1_000);
        let messages = &asked.request.messages;
        let mut blocks = messages.iter().flat_map(|m| &m.content);
        prop_assert!(blocks.all(|b| b.text().is_some_and(|text| !text.trim().is_empty())));
        prop_assert!(messages.iter().all(|m| m.role != Role::Tool));
        let ends = (messages.first().unwrap(), messages.last().unwrap());
        prop_assert_eq!((ends.0.role, ends.1.role), (Role::User, Role::User));
        prop_assert!(!said(&messages[..1]).starts_with("[result of"), "half a group");
        // Nothing is left out of what fits.
        let roomy = ModelCapabilities { context_window: 10_000_000, ..model };
        let whole = summary_request(&input(&conversation, &roomy)).unwrap();
        prop_assert_eq!(whole.left_out, 0);
        prop_assert!(said(&whole.request.messages).contains("please"));
    }

    #[test]
    fn cp_7a_a_compaction_lowers_the_estimate_or_is_no_progress(conversation in history(), summary in "[a-z]{1,4000}") {
        let model = model(true);
        let Ok(head) = head(&conversation.items, "k", &summary, &Reminder::default()) else { return Ok(()) };
        let spoken = |items: &[Item]| {
            let items = items.iter().filter(|item| item.kind != MessageKind::WorldState).cloned();
            let spoken = with_items(&conversation, items.collect());
            run(&spoken, Displaced::Hoist, true).budget.conversation_tokens
        };
        let (before, after) = (spoken(&conversation.items), spoken(&head));
        let expected = match after < before {
            true => Ok(Progress { before, after }),
            false => Err(CompactionError::NoProgress { before, after }),
        };
        prop_assert_eq!(progress(&input(&conversation, &model), &head), expected);
    }

    #[test]
    fn cp_7_compacting_again_and_again_keeps_the_request_the_facts_and_the_pairs(
        histories in proptest::collection::vec(history(), 1..4), displaced in displaced(),
    ) {
        let model = model(true);
        let mut conversation = Conversation { items: vec![user("first", 0)], ..Conversation::default() };
        let prefix = |conversation: &Conversation| {
            let request = run(conversation, displaced, true).request;
            serde_json::to_string(&(request.system, request.tools)).unwrap()
        };
        let before = prefix(&conversation);
        for (n, more) in histories.into_iter().enumerate() {
            conversation.items.extend(more.items);
            let asked = summary_request(&input(&conversation, &model)).unwrap();
            if let Some(earlier) = n.checked_sub(1) {
                let facts = format!("summary {earlier}");
                prop_assert!(said(&asked.request.messages).contains(&facts));
            }
            let request = last_user_request(&conversation.items).unwrap().clone();
            let head = head(&conversation.items, "k", &format!("summary {n}"), &Reminder::default()).unwrap();
            prop_assert_eq!(&head[0].message, &request.message);
            conversation.items = head;
            prop_assert_eq!(repairs(&conversation, displaced), 0);
            prop_assert_eq!(prefix(&conversation), before.clone());
        }
    }

    #[test]
    fn cp_7a_an_earlier_summary_is_never_what_is_left_out(conversation in history(), facts in "[a-z]{20}") {
        let Ok(mut items) = head(&[user("first", 0)], "k", &facts, &Reminder::default()) else { panic!() };
        items.extend(conversation.items.clone());
        let conversation = with_items(&conversation, items);
        let model = ModelCapabilities { context_window: 6_000, max_output_tokens: 1_000, ..model(true) };
        let asked = summary_request(&input(&conversation, &model)).unwrap();
        prop_assert!(said(&asked.request.messages).contains(&facts));
    }

    #[test]
    fn cp_6_what_will_be_pruned_is_named_once_and_in_full(conversation in history(), to in 0u64..16) {
        let unpruned = Conversation { pruned_through_sequence: None, ..conversation.clone() };
        let all = newly_pruned(&unpruned, to);
        let before = conversation.pruned_through_sequence;
        let new = newly_pruned(&conversation, to);
        let behind = all.iter().filter(|spilled| Some(spilled.sequence) > before).count();
        prop_assert_eq!(new.len(), behind);
        let advanced = Conversation { pruned_through_sequence: Some(to), ..conversation.clone() };
        prop_assert!(newly_pruned(&advanced, to).is_empty());
        // A session that is opened again finds the same ones (CP-7b).
        prop_assert_eq!(already_pruned(&advanced), all);
        prop_assert!(already_pruned(&unpruned).is_empty());
        for spilled in &new {
            prop_assert!(spilled.text().chars().count() > 8_192);
        }
    }
}

#[test]
fn cp_4_nobody_is_asked_for_a_summary_that_could_not_be_installed() {
    let mut skill = user("how to", 1);
    skill.kind = MessageKind::SkillInstruction;
    let conversation = with_items(&Conversation::default(), vec![skill]);
    let asked = summary_request(&input(&conversation, &model(true)));
    assert_eq!(asked, Err(CompactionError::MissingLastUser));
}

#[test]
fn cp_7a_results_are_shortened_before_any_group_is_left_out() {
    let calls = (0..12)
        .map(|n| json!({"type": "tool_call", "id": n.to_string(), "name": "read", "input": {}}));
    let mut messages = vec![
        json!({"role": "user", "content": [{"type": "text", "text": "the oldest"}]}),
        json!({"role": "assistant", "content": calls.collect::<Vec<_>>()}),
    ];
    messages.extend((0..12).map(|n| {
        json!({"role": "tool", "content": [{"type": "tool_result", "call_id": n.to_string(), "name": "read",
            "status": "success", "output": [{"type": "text", "text": "x".repeat(30_000)}]}]})
    }));
    let item = |(n, message)| Item {
        message: serde_json::from_value(message).unwrap(),
        ..user("", n)
    };
    let items = (1..).zip(messages).map(item).collect();
    let conversation = with_items(&Conversation::default(), items);
    let asked = |context_window| {
        let model = ModelCapabilities {
            context_window,
            max_output_tokens: 1_000,
            ..model(true)
        };
        summary_request(&input(&conversation, &model)).unwrap()
    };
    assert!(!said(&asked(200_000).request.messages).contains("[pruned: "));
    let text = said(&asked(20_000).request.messages);
    assert_eq!(text.matches("[pruned: ").count(), 12);
    assert!(text.contains("the oldest"));
}

#[test]
fn cp_7b_no_two_results_share_a_file() {
    let mut names = BTreeSet::new();
    for sequence in [1, 2, 12] {
        for call in ["call:1", "call_1", "../x", "", "2-"] {
            let name = spill_reference("f", sequence, call);
            assert!(!name.contains("..") && name.starts_with("f/"), "{name}");
            assert!(names.insert(name));
        }
    }
}
