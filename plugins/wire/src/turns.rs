//! A conversation in the form that every protocol can print, whatever it looks
//! like (PV-3): neighbours of one role are one turn, and each call stands with
//! the one result that answers it.

use crate::ids::Ids;
use crate::notes::Notes;
use sectile_sdk::provider::{
    Block, BlockKind, Message, ResultStatus, Role, ToolCallBlock, ToolResultBlock,
};
use std::collections::{BTreeMap, VecDeque};

/// What stands in for a result that is missing.
pub const UNANSWERED: &str = "The call was not answered.";

/// A block of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece<'a> {
    /// The block.
    pub block: &'a Block,
    /// A prompt cache may end behind it.
    pub cache_hint: bool,
}

/// One turn. It has at least one piece.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn<'a> {
    /// The user: text, data, and what else no rule forbids there.
    User(Vec<Piece<'a>>),
    /// The model, with the results of its calls in their order.
    Assistant(Vec<Piece<'a>>, Vec<Answer<'a>>),
}

/// A call, its id in the protocol, and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<'a> {
    /// The call.
    pub call: &'a ToolCallBlock,
    /// Its id in the protocol.
    pub id: String,
    /// Its result, when there is one.
    pub result: Option<&'a ToolResultBlock>,
    /// A prompt cache may end behind it.
    pub cache_hint: bool,
}

impl Answer<'_> {
    /// Whether the call did not do what it was asked to.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.result
            .is_none_or(|r| r.status != ResultStatus::Success)
    }

    /// What a result without content says.
    #[must_use]
    pub fn fallback(&self) -> &'static str {
        match self.result.map(|result| result.status) {
            Some(ResultStatus::Success) => "(no output)",
            Some(ResultStatus::Error) => "(failed without output)",
            Some(ResultStatus::Denied) => "(denied)",
            Some(ResultStatus::Interrupted) => "(interrupted)",
            None => UNANSWERED,
        }
    }
}

/// The turns of `messages`. Blocks that `keeps` refuses are left out, as are
/// results without a call and calls without a model.
pub fn turns<'a>(
    messages: &'a [Message],
    ids: &mut Ids,
    notes: &mut Notes,
    keeps: impl Fn(Role, &Block) -> bool,
) -> Vec<Turn<'a>> {
    let mut turns = Vec::new();
    let mut rest = messages;
    while let Some((message, after)) = rest.split_first() {
        let said = pieces(message, false, notes, &keeps);
        let calls = |piece: &Piece| matches!(piece.block.kind, BlockKind::ToolCall(_));
        if message.role != Role::Assistant || !said.iter().any(calls) {
            push(&mut turns, message.role, said);
            rest = after;
            continue;
        }
        push(&mut turns, Role::Assistant, said);
        let scope = after
            .iter()
            .position(|m| m.role == Role::Assistant)
            .unwrap_or(after.len());
        let (scope, after) = after.split_at(scope);
        let mut results = results(scope);
        if let Some(Turn::Assistant(said, answers)) = turns.last_mut() {
            for piece in said.iter() {
                if let BlockKind::ToolCall(call) = &piece.block.kind {
                    answers.push(answer(call, ids, &mut results, notes));
                }
            }
        }
        if results.values().any(|left| !left.is_empty()) {
            notes.dropped("messages", "a tool result answers no call");
        }
        for message in scope {
            let said = pieces(message, true, notes, &keeps);
            push(&mut turns, Role::User, said);
        }
        rest = after;
    }
    turns
}

/// The turns of which `says` something, with the user's neighbours joined again.
#[must_use]
pub fn retain<'a>(turns: Vec<Turn<'a>>, says: impl Fn(&Turn) -> bool) -> Vec<Turn<'a>> {
    let mut kept: Vec<Turn> = Vec::new();
    for turn in turns.into_iter().filter(says) {
        match (kept.last_mut(), turn) {
            (Some(Turn::User(before)), Turn::User(more)) => before.extend(more),
            (_, turn) => kept.push(turn),
        }
    }
    kept
}

type Results<'a> = BTreeMap<&'a str, VecDeque<(&'a ToolResultBlock, bool)>>;

fn results(scope: &[Message]) -> Results<'_> {
    let mut results = Results::new();
    for message in scope {
        for block in &message.content {
            if let BlockKind::ToolResult(result) = &block.kind {
                let found = results.entry(result.call_id.as_str()).or_default();
                found.push_back((result, message.cache_hint));
            }
        }
    }
    results
}

fn answer<'a>(
    call: &'a ToolCallBlock,
    ids: &mut Ids,
    results: &mut Results<'a>,
    notes: &mut Notes,
) -> Answer<'a> {
    let found = results.get_mut(call.id.as_str());
    let found = found.and_then(VecDeque::pop_front);
    if found.is_none() {
        notes.approximated(
            "messages",
            "a tool call has no result, one that says so is sent",
        );
    }
    Answer {
        call,
        id: ids.assign(&call.id),
        result: found.map(|(result, _)| result),
        cache_hint: found.is_some_and(|(_, hint)| hint),
    }
}

/// The blocks of a message that can stand in a turn of their role. The results
/// of an `answering` message stand with their calls.
fn pieces<'a>(
    message: &'a Message,
    answering: bool,
    notes: &mut Notes,
    keeps: impl Fn(Role, &Block) -> bool,
) -> Vec<Piece<'a>> {
    let assistant = message.role == Role::Assistant;
    let role = if assistant {
        Role::Assistant
    } else {
        Role::User
    };
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    for block in &message.content {
        let has_place = match &block.kind {
            BlockKind::ToolCall(_)
            | BlockKind::Thinking(_)
            | BlockKind::Refusal(_)
            | BlockKind::Opaque(_) => assistant,
            BlockKind::ToolResult(_) if answering => continue,
            BlockKind::ToolResult(_) => false,
            BlockKind::Text(_) | BlockKind::Data(_) => true,
        };
        if !has_place {
            notes.dropped("messages", "a block stands where its kind has no place");
        } else if keeps(role, block) {
            pieces.push(Piece {
                block,
                cache_hint: false,
            });
        }
    }
    if let Some(last) = pieces.last_mut() {
        last.cache_hint = message.cache_hint;
    }
    pieces
}

/// Adds to the last turn when it is of the same role and still open.
fn push<'a>(turns: &mut Vec<Turn<'a>>, role: Role, said: Vec<Piece<'a>>) {
    if said.is_empty() {
        return;
    }
    match (turns.last_mut(), role) {
        (Some(Turn::Assistant(pieces, answers)), Role::Assistant) if answers.is_empty() => {
            pieces.extend(said);
        }
        (_, Role::Assistant) => turns.push(Turn::Assistant(said, Vec::new())),
        (Some(Turn::User(pieces)), _) => pieces.extend(said),
        _ => turns.push(Turn::User(said)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::IdRule;
    use sectile_sdk::provider::{CallInput, ResultContent};

    const RULE: IdRule = IdRule {
        min: 1,
        max: 40,
        punctuation: true,
    };

    fn block(kind: BlockKind) -> Block {
        Block { kind, state: None }
    }

    fn message(role: Role, text: &str) -> Message {
        let block = |word: &str| match word.split_at_checked(1) {
            Some(("?", id)) => block(BlockKind::ToolCall(ToolCallBlock {
                id: id.to_owned(),
                name: "t".to_owned(),
                input: CallInput::Parsed("{}".to_owned()),
            })),
            Some(("!", id)) => block(BlockKind::ToolResult(ToolResultBlock {
                call_id: id.to_owned(),
                name: "t".to_owned(),
                status: ResultStatus::Success,
                content: vec![ResultContent::Text(format!("of {id}"))],
            })),
            _ => block(BlockKind::Text(word.to_owned())),
        };
        Message {
            role,
            content: text.split_whitespace().map(block).collect(),
            cache_hint: false,
        }
    }

    /// `u:` user, `a:` assistant, `t:` tool; `?x` calls, `!x` answers.
    fn shape(conversation: &str) -> (String, usize) {
        let messages: Vec<_> = conversation
            .split(" | ")
            .filter_map(|line| line.split_once(':'))
            .map(|(role, text)| match role {
                "a" => message(Role::Assistant, text),
                "t" => message(Role::Tool, text),
                _ => message(Role::User, text),
            })
            .collect();
        let (mut ids, mut notes) = (Ids::new(RULE), Notes::default());
        let turns = turns(&messages, &mut ids, &mut notes, |_, _| true);
        let words = |pieces: &[Piece]| {
            let word = |piece: &Piece| match &piece.block.kind {
                BlockKind::Text(text) => text.clone(),
                BlockKind::ToolCall(call) => format!("?{}", call.id),
                _ => unreachable!(),
            };
            pieces.iter().map(word).collect::<Vec<_>>().join(" ")
        };
        let line = |turn: &Turn| match turn {
            Turn::User(pieces) => format!("u:{}", words(pieces)),
            Turn::Assistant(pieces, answers) => {
                let answer = |a: &Answer| match a.result {
                    Some(result) => format!(" !{}", result.call_id),
                    None => " !".to_owned(),
                };
                let answers: String = answers.iter().map(answer).collect();
                format!("a:{}{answers}", words(pieces))
            }
        };
        let lines: Vec<_> = turns.iter().map(line).collect();
        (lines.join(" | "), notes.into_diagnostics().len())
    }

    #[test]
    fn pv_3_any_conversation_has_turns() {
        for (conversation, expected, notes) in [
            ("u:a | u:b | a:c | a:d | u:e", "u:a b | a:c d | u:e", 0),
            (
                "u:a | a:?1 ?2 | t:!1 | t:!2 | a:b",
                "u:a | a:?1 ?2 !1 !2 | a:b",
                0,
            ),
            (
                "u:a | a:?1 ?2 | t:!2 !1 | u:b",
                "u:a | a:?1 ?2 !1 !2 | u:b",
                0,
            ),
            ("u:a | a:?1 | u:b | t:!1 | u:c", "u:a | a:?1 !1 | u:b c", 0),
            ("u:a | a:?1 | u:b", "u:a | a:?1 ! | u:b", 1),
            ("u:a | a:?1 | a:b | t:!1", "u:a | a:?1 ! | a:b", 2),
            ("u:a | t:!1 | u:b", "u:a b", 1),
            ("u:a | a:?1 | t:!1 !1 | u:b", "u:a | a:?1 !1 | u:b", 1),
            ("u:a ?1 | a:b !1", "u:a | a:b", 1),
            ("a:?1 | t:!1 | a:?1 | t:!1", "a:?1 !1 | a:?1 !1", 0),
            ("a:?1 ?1 | t:!1 !1", "a:?1 ?1 !1 !1", 0),
            ("a:b | a:?1 | t:!1", "a:b ?1 !1", 0),
            ("u:", "", 0),
        ] {
            assert_eq!(
                shape(conversation),
                (expected.to_owned(), notes),
                "{conversation}"
            );
        }
    }
}
