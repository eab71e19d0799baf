//! Random histories, and one way to prepare them.

#![allow(dead_code, reason = "each test uses its part")]

use proptest::collection::vec;
use proptest::prelude::*;
use sectile_engine::{CompactRule, ContextInput, Displaced, PreparedModelCall, prepare};
use sectile_model::{
    Block, BlockKind, CallInput, Conversation, Data, DataSource, Item, Message, MessageKind,
    ModelCapabilities, Origin, ResultBlock, ResultStatus, Role, SystemPart, ToolCall,
    ToolDefinition, ToolResult,
};
use serde_json::json;
use std::sync::Arc;

pub(crate) fn model(accepts_data: bool) -> ModelCapabilities {
    ModelCapabilities {
        name: "m".into(),
        context_window: 200_000,
        max_output_tokens: 32_000,
        max_reasoning_tokens: 0,
        accepts_data,
    }
}

pub(crate) fn run(
    conversation: &Conversation,
    displaced: Displaced,
    accepts_data: bool,
) -> PreparedModelCall {
    let system = [SystemPart {
        key: "core/agent-system".into(),
        content: "Be \"careful\".\n".into(),
        source: None,
    }];
    let tools = [ToolDefinition {
        name: "read".into(),
        description: "reads".into(),
        input_schema: json!({"type": "object"}),
    }];
    prepare(&ContextInput {
        model: &model(accepts_data),
        compact_rule: CompactRule::Seed,
        displaced,
        system: &system,
        conversation,
        tools: &tools,
    })
    .unwrap()
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-z\"\\\\\n漢é😀]{0,12}",
        1 => (0usize..40_000).prop_map(|n| "aé漢\n".chars().cycle().take(n).collect::<String>()),
    ]
}

fn data() -> impl Strategy<Value = Data> {
    (prop_oneof![0usize..40, 20_000usize..60_000]).prop_map(|n| Data {
        media_type: "image/png".into(),
        source: DataSource::Base64("Q".repeat(n)),
        name: None,
    })
}

fn result_block() -> impl Strategy<Value = ResultBlock> {
    prop_oneof![
        3 => text().prop_map(|text| ResultBlock::Text { text }),
        1 => data().prop_map(ResultBlock::Data),
    ]
}

fn result() -> impl Strategy<Value = Block> {
    (0u8..4, vec(result_block(), 0..3), any::<bool>()).prop_map(|(id, output, artifact)| {
        Block::from(BlockKind::ToolResult(ToolResult {
            call_id: format!("c{id}"),
            name: "whatever".into(),
            status: ResultStatus::Success,
            output,
            artifacts: if artifact {
                vec![json!({"ui": 1})]
            } else {
                vec![]
            },
        }))
    })
}

fn call() -> impl Strategy<Value = Block> {
    (0u8..4, any::<bool>()).prop_map(|(id, whole)| {
        let input = if whole {
            CallInput::Parsed(json!({"b": 1, "a": 2}))
        } else {
            CallInput::Raw("{\"a".into())
        };
        Block::from(BlockKind::ToolCall(ToolCall {
            id: format!("c{id}"),
            name: format!("tool{id}"),
            input,
        }))
    })
}

fn text_block() -> impl Strategy<Value = Block> {
    text().prop_map(|text| Block::from(BlockKind::Text { text }))
}

fn message() -> impl Strategy<Value = (MessageKind, Role, Vec<Block>)> {
    let data_block = || data().prop_map(|d| Block::from(BlockKind::Data(d)));
    prop_oneof![
        2 => vec(text_block(), 0..3).prop_map(|c| (MessageKind::Normal, Role::User, c)),
        1 => vec(prop_oneof![text_block(), data_block(), result()], 0..3).prop_map(|c| (MessageKind::AgentMessage, Role::User, c)),
        1 => vec(text_block(), 1..2).prop_map(|c| (MessageKind::WorldState, Role::User, c)),
        4 => vec(prop_oneof![text_block(), call(), call(), data_block()], 0..5).prop_map(|c| (MessageKind::Normal, Role::Assistant, c)),
        5 => vec(prop_oneof![9 => result(), 1 => text_block()], 0..4).prop_map(|c| (MessageKind::Normal, Role::Tool, c)),
    ]
}

prop_compose! {
    pub(crate) fn history()(messages in vec(message(), 0..14), watermark in proptest::option::of(0u64..14)) -> Conversation {
        let items = messages.into_iter().zip(0u64..).map(|((kind, role, content), n)| Item {
            kind,
            origin: Origin::Real { message_id: Some(format!("m-{n}")), sequence: Some(n) },
            message: Arc::new(Message { role, content }),
            source: None,
        });
        Conversation { pruned_through_sequence: watermark, items: items.collect(), spill_folder: None }
    }
}

pub(crate) fn displaced() -> impl Strategy<Value = Displaced> {
    prop_oneof![Just(Displaced::Drop), Just(Displaced::Hoist)]
}
