//! Laws that hold for every history (CE-17a), on random ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod histories;

use histories::{displaced, history, run, text};
use proptest::prelude::*;
use sectile_engine::{Displaced, PreparedModelCall, SpanSource, estimate_tokens};
use sectile_model::{
    Block, BlockKind, CallInput, Conversation, Item, Message, MessageKind, Origin, ResultBlock,
    ResultStatus, Role, ToolCall, ToolResult,
};
use serde_json::json;
use std::sync::Arc;

/// The prepared messages as a conversation that was just appended.
fn again(call: &PreparedModelCall) -> Conversation {
    let items = call
        .request
        .messages
        .iter()
        .zip(&call.messages)
        .map(|(message, provenance)| Item {
            kind: provenance.kind,
            origin: Origin::appended(),
            message: Arc::clone(message),
            source: None,
        });
    Conversation {
        pruned_through_sequence: None,
        items: items.collect(),
        spill_folder: None,
    }
}

fn calls(message: &Message) -> Vec<&ToolCall> {
    let call = |block| match block {
        &Block {
            kind: BlockKind::ToolCall(ref call),
            ..
        } => Some(call),
        _ => None,
    };
    message.content.iter().filter_map(call).collect()
}

fn assert_paired(messages: &[Arc<Message>]) {
    let mut rest = messages.iter();
    while let Some(message) = rest.next() {
        assert!(!message.content.is_empty());
        assert_ne!(message.role, Role::Tool, "a result without its call");
        for call in calls(message) {
            let answer = rest.next().expect("every call has a result");
            let [
                Block {
                    kind: BlockKind::ToolResult(result),
                    ..
                },
            ] = answer.content.as_slice()
            else {
                panic!("one result a message: {answer:?}");
            };
            assert_eq!((&result.call_id, &result.name), (&call.id, &call.name));
            assert!(result.artifacts.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn ce_9_pairing_is_always_valid(history in history(), displaced in displaced(), data in any::<bool>()) {
        assert_paired(&run(&history, displaced, data).request.messages);
    }

    #[test]
    fn ce_17a_preparing_what_was_prepared_changes_nothing(history in history(), displaced in displaced(), data in any::<bool>()) {
        let once = run(&history, displaced, data);
        let twice = run(&again(&once), displaced, data);
        prop_assert_eq!(&once.request, &twice.request);
        prop_assert_eq!(twice.report, Default::default());
    }

    #[test]
    fn ce_1_ce_2_the_same_input_gives_the_same_bytes_and_stays_as_it_was(history in history(), displaced in displaced()) {
        let before = serde_json::to_string(&history).unwrap();
        let first = run(&history, displaced, true);
        let second = run(&history, displaced, true);
        prop_assert_eq!(serde_json::to_vec(&first.request).unwrap(), serde_json::to_vec(&second.request).unwrap());
        prop_assert_eq!(before, serde_json::to_string(&history).unwrap());
    }

    #[test]
    fn ce_3_what_is_appended_behind_a_complete_exchange_changes_nothing_before_it(
        history in history(), more in history(), displaced in displaced(),
    ) {
        // An exchange is complete when no result can still come for what is there: at an assistant message.
        let mut longer = history.clone();
        let boundary = Message { role: Role::Assistant, content: vec![BlockKind::Text { text: "next".into() }.into()] };
        let appended = |message: Arc<Message>, kind| Item { kind, origin: Origin::appended(), message, source: None };
        longer.items.push(appended(Arc::new(boundary), MessageKind::Normal));
        let short = run(&longer, displaced, true);
        longer.items.extend(more.items.into_iter().map(|item| appended(item.message, item.kind)));
        let long = run(&longer, displaced, true);
        prop_assert_eq!(&long.request.messages[..short.request.messages.len()], &short.request.messages[..]);
    }

    #[test]
    fn ce_13_the_budget_is_what_the_request_measures(history in history(), displaced in displaced()) {
        let call = run(&history, displaced, true);
        let region = |json: Vec<u8>, empty: bool| if empty { 0 } else { (json.len() as u64).div_ceil(4) };
        let request = &call.request;
        let system = region(serde_json::to_vec(&request.system).unwrap(), request.system.is_empty());
        let messages = region(serde_json::to_vec(&request.messages).unwrap(), request.messages.is_empty());
        let tools = region(serde_json::to_vec(&request.tools).unwrap(), request.tools.is_empty());
        prop_assert_eq!(call.budget.estimated_input_tokens, system + messages + tools);
        prop_assert_eq!(call.budget.conversation_tokens, messages);
    }

    #[test]
    fn ce_17a_the_estimator_is_monotone(text in text(), more in text()) {
        let longer = format!("{text}{more}");
        prop_assert!(estimate_tokens(&text) <= estimate_tokens(&longer));
    }

    #[test]
    fn ce_19_the_spans_tile_the_request(history in history(), displaced in displaced()) {
        let call = run(&history, displaced, true);
        let json = serde_json::to_vec(&call.request).unwrap();
        let mut end = 0;
        for span in call.spans() {
            prop_assert_eq!(span.start, end);
            end = span.end;
            let bytes = &json[usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap()];
            if let SpanSource::Message { index, .. } = span.source {
                prop_assert_eq!(bytes, serde_json::to_vec(&call.request.messages[index]).unwrap());
            }
        }
        prop_assert_eq!(end, json.len() as u64);
    }

    #[test]
    fn ce_8_no_result_is_above_8000_tokens(history in history(), displaced in displaced()) {
        for message in run(&history, displaced, true).request.messages {
            for block in &message.content {
                if let BlockKind::ToolResult(result) = &block.kind {
                    let text: usize = result.output.iter().map(|b| match b {
                        ResultBlock::Text { text } => text.len(),
                        ResultBlock::Data(data) => data.source.text().len() + data.media_type.len(),
                    }).sum();
                    prop_assert!(text <= 32_000);
                }
            }
        }
    }
}

#[test]
fn ce_9_two_calls_with_one_id_get_one_result_each() {
    let call = || {
        Block::from(BlockKind::ToolCall(ToolCall {
            id: "c".into(),
            name: "n".into(),
            input: CallInput::Parsed(json!({})),
        }))
    };
    let answer = |text: &str| {
        Block::from(BlockKind::ToolResult(ToolResult {
            call_id: "c".into(),
            name: "n".into(),
            status: ResultStatus::Success,
            output: vec![ResultBlock::Text { text: text.into() }],
            artifacts: vec![],
        }))
    };
    let item = |role, content| Item {
        kind: MessageKind::Normal,
        origin: Origin::appended(),
        message: Arc::new(Message { role, content }),
        source: None,
    };
    let conversation = Conversation {
        pruned_through_sequence: None,
        spill_folder: None,
        items: vec![
            item(Role::Assistant, vec![call(), call(), call()]),
            item(Role::Tool, vec![answer("1"), answer("2")]),
        ],
    };
    let prepared = run(&conversation, Displaced::Drop, true);
    assert_paired(&prepared.request.messages);
    assert_eq!(
        (
            prepared.report.synthesized_tool_results,
            prepared.report.dropped_tool_results
        ),
        (1, 0)
    );
}
