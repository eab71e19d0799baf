//! Whether an answer is a summary (CP-11, CP-12). What is not is rejected and
//! never repaired.

use crate::compaction::CompactionError;
use crate::compaction::instruction::{Language, is_cjk};
use sectile_model::{Block, BlockKind, FinishReason};

/// Version of the form below.
pub const SUMMARY_FORMAT_VERSION: u32 = 1;

const OPEN: &str = "<conversation_summary format_version=\"1\">";
const CLOSE: &str = "</conversation_summary>";
/// Names of tags that steer a model.
const CONTROL: [&str; 4] = [
    "system",
    "instructions",
    "tool_result",
    "conversation_summary",
];
/// Input above which a summary has a least length.
const LONG_INPUT_TOKENS: u64 = 4_000;
const LEAST: usize = 500;
const LEAST_CJK: usize = 200;

/// The summary in an answer to a request of `input_tokens`.
///
/// # Errors
/// [`CompactionError::InvalidSummary`], with what is wrong.
pub fn check_summary(
    blocks: &[Block],
    reason: FinishReason,
    language: Language,
    input_tokens: u64,
) -> Result<String, CompactionError> {
    let rejected = |why: String| CompactionError::InvalidSummary(why);
    if reason != FinishReason::Stop {
        return Err(rejected(format!(
            "it ended with {reason:?} and not by itself"
        )));
    }
    let called = |block: &Block| matches!(block.kind, BlockKind::ToolCall(_));
    if blocks.iter().any(called) {
        return Err(rejected("it calls a tool".to_owned()));
    }
    let text: String = blocks.iter().filter_map(Block::text).collect();
    let text = text.trim();
    let body = text
        .strip_prefix(OPEN)
        .ok_or_else(|| rejected(format!("it does not begin with {OPEN}")))?
        .strip_suffix(CLOSE)
        .ok_or_else(|| rejected(format!("it does not end with {CLOSE}")))?;
    if let Some(tag) = control_tag(body) {
        return Err(rejected(format!("it holds the tag <{tag}>")));
    }
    check_headings(body, language).map_err(rejected)?;
    let (characters, least) = (body.chars().count(), least(body));
    if input_tokens > LONG_INPUT_TOKENS && characters < least {
        return Err(rejected(format!(
            "it has {characters} characters; for an input of {input_tokens} tokens at least {least} are expected"
        )));
    }
    Ok(text.to_owned())
}

fn least(body: &str) -> usize {
    let letters = body.chars().filter(|c| c.is_alphabetic()).count();
    let cjk = body.chars().filter(|c| is_cjk(*c)).count();
    match cjk * 2 > letters {
        true => LEAST_CJK,
        false => LEAST,
    }
}

fn check_headings(body: &str, language: Language) -> Result<(), String> {
    let headings = language.headings();
    let found: Vec<_> = body
        .lines()
        .map(str::trim_end)
        .filter(|line| headings.contains(line))
        .collect();
    match found == headings {
        true => Ok(()),
        false => Err(format!(
            "its headings are not the seven, once each and in their order; found {}",
            found.len()
        )),
    }
}

/// The first control tag in `text`, by its whole name: `<toolbar>` is text.
fn control_tag(text: &str) -> Option<&'static str> {
    text.split('<').skip(1).find_map(|behind| {
        let named = behind.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        let name =
            named.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':')));
        let name = name.into_iter().next().unwrap_or("");
        CONTROL
            .into_iter()
            .find(|tag| name.eq_ignore_ascii_case(tag))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(body: &str) -> String {
        format!("{OPEN}\n{body}\n{CLOSE}")
    }

    fn body(language: Language, filler: &str) -> String {
        let sections = language.headings().map(|h| format!("{h}\n{filler}"));
        sections.join("\n")
    }

    fn check(text: &str, tokens: u64) -> Result<String, CompactionError> {
        let text = BlockKind::Text {
            text: text.to_owned(),
        };
        check_summary(
            &[text.into()],
            FinishReason::Stop,
            Language::English,
            tokens,
        )
    }

    #[test]
    fn cp_11_one_root_with_seven_headings_passes() {
        let good = summary(&body(Language::English, &"word ".repeat(20)));
        assert_eq!(check(&good, 100_000).as_deref(), Ok(good.as_str()));
        assert!(check(&format!("\n {good} \n"), 0).is_ok());
        let toolbar = summary(&body(Language::English, "a <toolbar> and <systems>"));
        assert!(check(&toolbar, 0).is_ok());
        let chinese = summary(&body(Language::Chinese, &"已完成的事项".repeat(10)));
        let text = BlockKind::Text { text: chinese };
        assert!(
            check_summary(
                &[text.into()],
                FinishReason::Stop,
                Language::Chinese,
                100_000
            )
            .is_ok()
        );
    }

    #[test]
    fn cp_12_anything_else_is_rejected() {
        let inner = body(Language::English, "word");
        let good = summary(&inner);
        let two = summary(&inner.replace("## Open", "## Decisions"));
        for bad in [
            "",
            &inner,
            &format!("Here it is: {good}"),
            &format!("{good} Done."),
            &format!("{good}{good}"),
            &summary(&inner.replace("## Open\n", "")),
            &summary(&format!("{inner}\n## Open")),
            &two,
            &summary(&format!("{inner} </SYSTEM>")),
            &summary(&format!("{inner} < instructions foo>")),
            &summary(&format!("{inner} <tool_result>")),
            &good.replace("\"1\"", "\"2\""),
        ] {
            assert_eq!(
                check(bad, 0).map_err(|e| e.code()),
                Err("invalid_summary"),
                "{bad}"
            );
        }
        assert!(check(&good, 4_000).is_ok() && check(&good, 4_001).is_err());
        let block: Block = BlockKind::Text { text: good }.into();
        let cut = check_summary(&[block], FinishReason::Length, Language::English, 0);
        assert!(cut.is_err());
    }
}
