//! What preparing a history costs, beside what writing the same messages as
//! JSON costs. Both grow with the history; their ratio should not.

#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes the items"
)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sectile_engine::{CompactRule, ContextInput, Displaced, PreparedModelCall, prepare};
use sectile_model::{
    BlockKind, CallInput, Conversation, Item, Message, MessageKind, ModelCapabilities, Origin,
    ResultBlock, ResultStatus, Role, SystemPart, ToolCall, ToolResult,
};
use serde_json::json;
use std::hint::black_box;
use std::sync::Arc;

const SIZES: [u64; 4] = [100, 1_000, 10_000, 100_000];
/// Bytes of each text: a chat of short lines, and one with files in it.
const TEXT_BYTES: [usize; 2] = [40, 1_000];

fn benchmarks(criterion: &mut Criterion) {
    for text_bytes in TEXT_BYTES {
        let mut group = criterion.benchmark_group(format!("prepare/{text_bytes}-byte texts"));
        group.sample_size(20);
        for size in SIZES {
            let input = conversation(size, text_bytes);
            let messages: Vec<_> = input.items.iter().map(|i| &i.message).collect();
            group.throughput(Throughput::Elements(size));
            group.bench_with_input(BenchmarkId::new("write", size), &messages, |b, messages| {
                b.iter(|| serde_json::to_vec(black_box(messages)));
            });
            group.bench_with_input(BenchmarkId::new("prepare", size), &input, |b, input| {
                b.iter(|| prepare_all(black_box(input)));
            });
        }
        group.finish();
    }
}

/// Exchanges of four messages: question, call, result, answer.
fn conversation(size: u64, text_bytes: usize) -> Conversation {
    let text = "Sphinx of black quartz, \"judge\" my vow.\n".repeat(text_bytes.div_ceil(40));
    Conversation {
        pruned_through_sequence: Some(size / 2),
        items: (0..size).map(|sequence| item(sequence, &text)).collect(),
        spill_folder: None,
    }
}

fn item(sequence: u64, text: &str) -> Item {
    let text = || BlockKind::Text {
        text: text.to_owned(),
    };
    let (role, block) = match sequence % 4 {
        0 => (Role::User, text()),
        1 => (
            Role::Assistant,
            BlockKind::ToolCall(ToolCall {
                id: format!("call-{sequence}"),
                name: "read".into(),
                input: CallInput::Parsed(json!({"path": "src/lib.rs"})),
            }),
        ),
        2 => (
            Role::Tool,
            BlockKind::ToolResult(ToolResult {
                call_id: format!("call-{}", sequence - 1),
                name: "read".into(),
                status: ResultStatus::Success,
                output: vec![ResultBlock::Text {
                    text: "line of a file\n".repeat(8),
                }],
                artifacts: Vec::new(),
            }),
        ),
        _ => (Role::Assistant, text()),
    };
    Item {
        kind: MessageKind::Normal,
        origin: Origin::Real {
            message_id: Some(format!("m-{sequence}")),
            sequence: Some(sequence),
        },
        message: Arc::new(Message {
            role,
            content: vec![block.into()],
        }),
        source: None,
    }
}

fn prepare_all(conversation: &Conversation) -> PreparedModelCall {
    let model = ModelCapabilities {
        name: "m".into(),
        context_window: 200_000,
        max_output_tokens: 32_000,
        max_reasoning_tokens: 0,
        accepts_data: true,
    };
    let system = [SystemPart {
        key: "core/agent-system".into(),
        content: "You are careful.".into(),
        source: None,
    }];
    let input = ContextInput {
        model: &model,
        compact_rule: CompactRule::Once,
        displaced: Displaced::Hoist,
        system: &system,
        conversation,
        tools: &[],
    };
    prepare(&input).expect("the history is in order")
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
