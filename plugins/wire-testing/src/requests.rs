//! Requests: plain ones to vary, and arbitrary ones, whatever they look like.

use proptest::prelude::*;
use sectile_sdk::provider::{
    Block, BlockKind, CallInput, DataBlock, DataSource, DataSourceInline, DataSourceUrl, Message,
    OpaqueBlock, ProviderState, Request, ResultContent, ResultStatus, Role, SystemPart, Thinking,
    ThinkingBlock, ToolCallBlock, ToolChoice, ToolDefinition, ToolResultBlock,
};

/// A request of `messages` to `model`.
#[must_use]
pub fn request(model: &str, messages: Vec<Message>) -> Request {
    Request {
        model: model.to_owned(),
        system: Vec::new(),
        messages,
        tools: Vec::new(),
        cache_tools: false,
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: None,
        max_output_tokens: 4_096,
        temperature: None,
        top_p: None,
        thinking: None,
        stop: Vec::new(),
        streaming: false,
        cache_key: None,
        extra: "{}".to_owned(),
    }
}

/// A message.
#[must_use]
pub fn message(role: Role, content: Vec<Block>) -> Message {
    Message {
        role,
        content,
        cache_hint: false,
    }
}

/// A block without state.
#[must_use]
pub fn block(kind: BlockKind) -> Block {
    Block { kind, state: None }
}

/// A block of text.
#[must_use]
pub fn text(text: &str) -> Block {
    block(BlockKind::Text(text.to_owned()))
}

/// A tool with `schema`.
#[must_use]
pub fn tool(name: &str, schema: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: String::new(),
        input_schema: schema.to_owned(),
        strict: None,
        defer: false,
    }
}

/// Requests of any form to one of `models`, with state of `protocol` or of
/// others, whose data is one of `states`.
pub fn requests(
    models: &'static [&'static str],
    protocol: &'static str,
    states: &'static [&'static str],
) -> impl Strategy<Value = Request> {
    let basis = (
        prop::sample::select(models),
        prop::collection::vec(a_message(protocol, models, states), 0..9),
        prop::collection::vec(a_tool(), 0..6),
        prop::collection::vec((a_text(), any::<bool>()), 0..4),
    );
    let intents = (
        a_choice(),
        any::<Option<bool>>(),
        0u32..40_000,
        prop::option::of(-1.0f32..3.0),
        prop::option::of(prop_oneof![Just(f32::NAN), -1.0f32..3.0]),
        prop::option::of(a_thinking()),
        prop::collection::vec(a_text(), 0..6),
        any::<[bool; 2]>(),
        prop::option::of("[a-z]{1,6}"),
    );
    (basis, intents).prop_map(|((model, messages, tools, system), intents)| {
        let (choice, parallel, max_output, temperature, top_p, thinking, stop, flags, key) =
            intents;
        let part = |(n, (content, cache_hint)): (usize, (String, bool))| SystemPart {
            key: format!("part/{n}"),
            content,
            cache_hint,
        };
        Request {
            system: system.into_iter().enumerate().map(part).collect(),
            tools,
            cache_tools: flags[0],
            tool_choice: choice,
            parallel_tool_calls: parallel,
            max_output_tokens: max_output,
            temperature,
            top_p,
            thinking,
            stop,
            streaming: flags[1],
            cache_key: key,
            ..request(model, messages)
        }
    })
}

fn a_text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" \n\t".to_owned()),
        Just("words \n".to_owned()),
        "[a-z\u{e9}\" ]{1,12}",
    ]
}

fn an_id() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(&["call_1", "call_2", "abcDEF123", ""][..]).prop_map(str::to_owned),
        "toolu\\.[a-c|:]{1,3}",
        "[a-z]{70}",
    ]
}

fn a_name() -> impl Strategy<Value = String> {
    let names = &[
        "read",
        "fs.read",
        "fs:read",
        "fs_read",
        "tool_search_tool_bm25",
    ][..];
    prop_oneof![
        prop::sample::select(names).prop_map(str::to_owned),
        "[a-z\u{e9}./ ]{1,140}",
    ]
}

fn some_data() -> impl Strategy<Value = DataBlock> {
    let types = [
        "image/png",
        "image/bmp",
        "application/pdf",
        "text/plain",
        "audio/wav",
        "x/y",
        "",
    ];
    let media_type = prop::sample::select(types.to_vec());
    let source = (media_type, 0u8..4).prop_map(|(media_type, kind)| match kind {
        0 => DataSource::FileId("file_1".to_owned()),
        1 => DataSource::Url(DataSourceUrl {
            media_type: Some(media_type.to_owned()).filter(|t| !t.is_empty()),
            url: "https://host/a.png".to_owned(),
        }),
        _ => DataSource::Inline(DataSourceInline {
            media_type: media_type.to_owned(),
            bytes: vec![1; usize::from(kind) - 2],
        }),
    });
    (source, prop::option::of(a_text())).prop_map(|(source, name)| DataBlock { source, name })
}

fn a_result() -> impl Strategy<Value = BlockKind> {
    let status = prop::sample::select(vec![
        ResultStatus::Success,
        ResultStatus::Error,
        ResultStatus::Denied,
        ResultStatus::Interrupted,
    ]);
    let content = prop_oneof![
        a_text().prop_map(ResultContent::Text),
        some_data().prop_map(ResultContent::Data),
    ];
    let content = prop::collection::vec(content, 0..3);
    (an_id(), a_name(), status, content).prop_map(|(call_id, name, status, content)| {
        BlockKind::ToolResult(ToolResultBlock {
            call_id,
            name,
            status,
            content,
        })
    })
}

fn a_call() -> impl Strategy<Value = BlockKind> {
    let parsed = [
        "{}",
        "{\"b\": 1, \"a\": [true]}",
        "null",
        "[1]",
        "\"x\"",
        "7",
    ];
    let input = prop_oneof![
        4 => prop::sample::select(parsed.to_vec()).prop_map(|t| CallInput::Parsed(t.to_owned())),
        1 => prop::sample::select(vec!["", "{\"a\": "]).prop_map(|t| CallInput::Raw(t.to_owned())),
    ];
    (an_id(), a_name(), input)
        .prop_map(|(id, name, input)| BlockKind::ToolCall(ToolCallBlock { id, name, input }))
}

fn a_kind() -> impl Strategy<Value = BlockKind> {
    let thinking = (prop::option::of(a_text()), any::<bool>()).prop_map(|(text, redacted)| {
        BlockKind::Thinking(ThinkingBlock {
            text,
            summary: Vec::new(),
            redacted,
        })
    });
    let opaque = Just(BlockKind::Opaque(OpaqueBlock {
        kind: "server_tool_use".to_owned(),
        payload: "{\"type\": \"server_tool_use\", \"id\": \"s\", \"name\": \"web_search\", \"input\": {}}".to_owned(),
    }));
    prop_oneof![
        4 => a_text().prop_map(BlockKind::Text),
        4 => a_call(),
        4 => a_result(),
        2 => thinking,
        1 => some_data().prop_map(BlockKind::Data),
        1 => a_text().prop_map(BlockKind::Refusal),
        1 => opaque,
    ]
}

fn a_message(
    protocol: &'static str,
    models: &'static [&'static str],
    states: &'static [&'static str],
) -> impl Strategy<Value = Message> {
    let protocols = prop::sample::select(vec![protocol, "elsewhere"]);
    let state = (
        protocols,
        prop::sample::select(models),
        prop::sample::select(states),
    )
        .prop_map(|(protocol, model, data)| ProviderState {
            protocol: protocol.to_owned(),
            model: model.to_owned(),
            data: data.to_owned(),
        });
    let block = (a_kind(), prop::option::of(state)).prop_map(|(kind, state)| Block { kind, state });
    let role = prop::sample::select(vec![
        Role::User,
        Role::Assistant,
        Role::Assistant,
        Role::Tool,
    ]);
    (role, prop::collection::vec(block, 0..5), any::<bool>()).prop_map(
        |(role, content, cache_hint)| Message {
            role,
            content,
            cache_hint,
        },
    )
}

fn a_tool() -> impl Strategy<Value = ToolDefinition> {
    let schemas = [
        "{}",
        "true",
        "null",
        "{\"type\": \"string\"}",
        "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"string\", \"minLength\": 1}}}",
        "{\"anyOf\": [{\"properties\": {\"a\": {}}}, {\"type\": \"null\"}]}",
        "{\"$ref\": \"#/$defs/a\", \"$defs\": {\"a\": {\"type\": \"object\"}}}",
    ];
    let flags = (any::<Option<bool>>(), any::<bool>());
    (
        a_name(),
        a_text(),
        prop::sample::select(schemas.to_vec()),
        flags,
    )
        .prop_map(
            |(name, description, schema, (strict, defer))| ToolDefinition {
                description,
                strict,
                defer,
                ..tool(&name, schema)
            },
        )
}

fn a_choice() -> impl Strategy<Value = ToolChoice> {
    prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Required),
        a_name().prop_map(ToolChoice::Named),
        prop::collection::vec(a_name(), 0..3).prop_map(ToolChoice::Allowed),
    ]
}

fn a_thinking() -> impl Strategy<Value = Thinking> {
    prop_oneof![
        Just(Thinking::Off),
        Just(Thinking::Auto),
        prop::sample::select(vec![
            "none", "minimal", "low", "high", "xhigh", "max", "odd"
        ])
        .prop_map(|effort| Thinking::Effort(effort.to_owned())),
        (0u32..50_000).prop_map(Thinking::Budget),
    ]
}
