//! What the user gives a turn, and what is stored of it before anything runs
//! (SR-20).

use crate::error::SessionError;
use crate::host::Host;
use sectile_engine::estimate_tokens;
use sectile_model::{Block, BlockKind, Message, MessageKind, Role};

/// Tokens at which the body of a skill is too long for a turn (CE-17).
const MAX_SKILL_TOKENS: u64 = 8_000;

/// What the user gives a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnInput {
    /// Names the request, so that asking again gives the same turn; without one
    /// each call is a request of its own.
    pub client_request_id: Option<String>,
    /// Texts and data; at least one text.
    pub content: Vec<Block>,
    /// Skills to be used, by name.
    pub skills: Vec<String>,
}

impl TurnInput {
    /// A request of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        let text = BlockKind::Text { text: text.into() };
        Self {
            content: vec![text.into()],
            ..Self::default()
        }
    }
}

/// What is stored when a turn is accepted, in its order.
#[derive(Debug)]
pub(crate) struct AcceptedInput {
    pub(crate) messages: Vec<(MessageKind, Message)>,
    /// The user's words, for sections that render by them.
    pub(crate) query: String,
}

/// Checks `input` and resolves its skills: what is wrong with them is wrong
/// before the turn begins.
pub(crate) fn accept(host: &Host, input: &TurnInput) -> Result<AcceptedInput, SessionError> {
    let texts: Vec<_> = input.content.iter().filter_map(Block::text).collect();
    let query = texts.join("\n");
    if query.trim().is_empty() {
        return Err(SessionError::EmptyInput);
    }
    let allowed = |block: &Block| {
        matches!(block.kind, BlockKind::Text { .. } | BlockKind::Data(_)) && block.state.is_none()
    };
    if !input.content.iter().all(allowed) {
        return Err(SessionError::UnsupportedInput);
    }
    let mut messages = Vec::new();
    let mut chosen: Vec<&String> = Vec::new();
    for skill in &input.skills {
        if !chosen.contains(&skill) {
            chosen.push(skill);
            messages.push((MessageKind::SkillInstruction, snapshot(host, skill)?));
        }
    }
    messages.push((
        MessageKind::Normal,
        Message {
            role: Role::User,
            content: input.content.clone(),
        },
    ));
    Ok(AcceptedInput { messages, query })
}

/// The skill's name, path and body as they are now.
fn snapshot(host: &Host, name: &str) -> Result<Message, SessionError> {
    let unavailable = |why: String| SessionError::SkillUnavailable {
        skill: sectile_sandbox::one_line(name),
        why,
    };
    let text = host.skill(name).map_err(unavailable)?.message(&host.world);
    let tokens = estimate_tokens(&text);
    if tokens >= MAX_SKILL_TOKENS {
        return Err(SessionError::SkillTooLarge {
            skill: name.to_owned(),
            tokens,
            limit: MAX_SKILL_TOKENS,
        });
    }
    Ok(Message {
        role: Role::User,
        content: vec![BlockKind::Text { text }.into()],
    })
}
