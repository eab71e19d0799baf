//! CE-20: where two requests differ, and why.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod histories;

use histories::{displaced, history, run};
use proptest::prelude::*;
use sectile_engine::compaction::{Reminder, head};
use sectile_engine::{Displaced, PrefixCause, PreparedModelCall, prefix_report};
use sectile_model::{Conversation, Digest, Item, MessageKind, Origin, SectionSource, SystemPart};
use serde_json::{Value, json};
use std::sync::Arc;

fn text(call: &PreparedModelCall) -> String {
    serde_json::to_string(&call.request).unwrap()
}

fn item(sequence: u64, message: &Value) -> Item {
    Item {
        kind: MessageKind::Normal,
        origin: Origin::Real {
            message_id: Some(format!("m-{sequence}")),
            sequence: Some(sequence),
        },
        message: serde_json::from_value(message.clone()).unwrap(),
        source: None,
    }
}

fn user(sequence: u64, said: &str) -> Item {
    let content = json!([{"type": "text", "text": said}]);
    item(sequence, &json!({"role": "user", "content": content}))
}

/// A request, a call, and its result of `length` characters when there is one.
fn exchange(length: Option<usize>) -> Conversation {
    let call = json!({"type": "tool_call", "id": "c", "name": "read", "input": {}});
    let mut items = vec![
        user(1, "look"),
        item(2, &json!({"role": "assistant", "content": [call]})),
    ];
    if let Some(length) = length {
        let result = json!({"type": "tool_result", "call_id": "c", "name": "read", "status": "success",
            "output": [{"type": "text", "text": "x".repeat(length)}]});
        items.push(item(3, &json!({"role": "tool", "content": [result]})));
    }
    Conversation {
        items,
        ..Conversation::default()
    }
}

fn prepared(conversation: &Conversation) -> PreparedModelCall {
    run(conversation, Displaced::Hoist, true)
}

fn cause_of(first: &PreparedModelCall, second: &PreparedModelCall) -> PrefixCause {
    prefix_report(first, second).cause
}

proptest! {
    #[test]
    fn ce_20_the_report_finds_the_first_byte(a in history(), b in history(), common in 0usize..14, displaced in displaced()) {
        let mut second = a.clone();
        second.items.truncate(common);
        second.items.extend(b.items);
        let (first, second) = (run(&a, displaced, true), run(&second, displaced, true));
        let report = prefix_report(&first, &second);
        let (a, b) = (text(&first), text(&second));
        let shared = usize::try_from(report.shared_bytes).unwrap();
        prop_assert_eq!(&a.as_bytes()[..shared], &b.as_bytes()[..shared]);
        prop_assert!(a == b || a.as_bytes().get(shared) != b.as_bytes().get(shared));
        prop_assert_eq!((report.first_bytes, report.second_bytes), (a.len() as u64, b.len() as u64));
        prop_assert_eq!(report.cause == PrefixCause::Same, a == b);
        // Neither the prompt, nor the tools, nor the model did it.
        prop_assert!(a == b || report.part.starts_with("message "), "{}", report);
    }

    #[test]
    fn ce_20_an_append_is_known_and_so_is_its_taking_back(conversation in history(), more in "[a-z]{1,9}") {
        let short = prepared(&conversation);
        let mut grown = conversation;
        grown.items.push(user(99, &more));
        let long = prepared(&grown);
        prop_assert_eq!(cause_of(&short, &long), PrefixCause::Appended);
        prop_assert_eq!(cause_of(&long, &short), PrefixCause::Compaction);
    }
}

#[test]
fn ce_20_a_change_of_the_system_context_is_told_by_its_key() {
    let first = prepared(&exchange(None));
    let changed = |change: &dyn Fn(&mut Vec<SystemPart>)| {
        let mut second = first.clone();
        change(&mut second.request.system);
        // Whatever comes later in the request does not hide what came first.
        second.request.messages.pop();
        second.messages.pop();
        prefix_report(&first, &second)
    };
    let key = |key: &str| PrefixCause::SystemChanged {
        key: key.to_owned(),
    };
    let part = |name: &str| SystemPart {
        key: name.to_owned(),
        content: "c".to_owned(),
        source: None,
    };
    let agent = "core/agent-system";
    let touched = changed(&|parts| parts[0].content.push('x'));
    assert_eq!(touched.cause, key(agent));
    assert_eq!(changed(&|parts| parts.push(part("b"))).cause, key("b"));
    assert_eq!(changed(&|parts| parts.insert(0, part("b"))).cause, key("b"));
    let gone = changed(&Vec::clear);
    assert_eq!(gone.cause, key(agent));
    assert_eq!(gone.part, "system part core/agent-system, which is gone");
    let section = SectionSource {
        section: "core/project".parse().unwrap(),
        plugin: "org/project".parse().unwrap(),
        version: "1.0.0".to_owned(),
        digest: Digest::from_bytes([0; 32]),
    };
    let rendered = changed(&|parts| {
        parts[0].content.push('x');
        parts[0].source = Some(Arc::new(section.clone()));
    });
    assert_eq!(
        rendered.cause,
        PrefixCause::SectionRerendered {
            section: "core/project".to_owned()
        }
    );
}

#[test]
fn ce_20_a_change_of_model_or_tools_is_told_however_small() {
    let first = prepared(&exchange(None));
    let changed = |change: &dyn Fn(&mut PreparedModelCall)| {
        let mut second = first.clone();
        change(&mut second);
        cause_of(&first, &second)
    };
    let model = |call: &mut PreparedModelCall| call.request.model.push('x');
    let output = |call: &mut PreparedModelCall| call.request.max_output_tokens += 1;
    assert_eq!(changed(&model), PrefixCause::ModelChanged);
    assert_eq!(changed(&output), PrefixCause::ModelChanged);
    let tools = PrefixCause::ToolSurfaceChanged;
    let described = |call: &mut PreparedModelCall| call.request.tools[0].description.push('x');
    assert_eq!(changed(&described), tools);
    assert_eq!(changed(&|call| call.request.tools.clear()), tools);
    assert_eq!(
        changed(&|call| {
            let again = call.request.tools[0].clone();
            call.request.tools.push(again);
        }),
        tools
    );
    // The same schema with its fields in another order is other bytes.
    let mut ordered = first.clone();
    ordered.request.tools[0].input_schema = json!({"a": 1, "b": 2});
    let mut other = first.clone();
    other.request.tools[0].input_schema = json!({"b": 2, "a": 1});
    assert_eq!(ordered.request, other.request);
    assert_eq!(cause_of(&ordered, &other), tools);
}

#[test]
fn ce_20_a_change_of_a_message_is_told_by_what_did_it() {
    let whole = exchange(Some(9_000));
    let first = prepared(&whole);
    let pruned = Conversation {
        pruned_through_sequence: Some(3),
        ..whole.clone()
    };
    let pruned = prefix_report(&first, &prepared(&pruned));
    assert_eq!(pruned.cause, PrefixCause::WatermarkMoved);
    assert_eq!(pruned.part, "message 3 (m-3)");
    let arrived = cause_of(&prepared(&exchange(None)), &first);
    assert_eq!(arrived, PrefixCause::ResultArrived);
    let mut other = whole.clone();
    other.items[0] = user(1, "listen");
    assert_eq!(
        cause_of(&first, &prepared(&other)),
        PrefixCause::MessageChanged
    );
    let compacted = |summary: &str| {
        let head = head(&whole.items, "k", summary, &Reminder::default()).unwrap();
        prepared(&Conversation {
            items: head,
            ..Conversation::default()
        })
    };
    let once = compacted("a");
    assert_eq!(cause_of(&first, &once), PrefixCause::Compaction);
    assert_eq!(cause_of(&once, &compacted("b")), PrefixCause::Compaction);
    assert_eq!(cause_of(&once, &first), PrefixCause::Compaction);
}
