//! Whether an answer is a summary (CP-11, CP-12). What is not is rejected and
//! never repaired.

use crate::compaction::instruction::{Language, is_cjk};
use crate::compaction::{CompactionError, SummaryFault};
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
pub(super) const LEAST: usize = 500;
pub(super) const LEAST_CJK: usize = 200;

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
    if reason != FinishReason::Stop {
        return Err(SummaryFault::Finish(reason).into());
    }
    let called = |block: &Block| matches!(block.kind, BlockKind::ToolCall(_));
    if blocks.iter().any(called) {
        return Err(SummaryFault::ToolCall.into());
    }
    let text: String = blocks.iter().filter_map(Block::text).collect();
    let text = text.trim();
    check_text(text, language, input_tokens)?;
    Ok(text.to_owned())
}

fn check_text(text: &str, language: Language, input_tokens: u64) -> Result<(), SummaryFault> {
    let opened = text.strip_prefix(OPEN).ok_or(SummaryFault::Beginning)?;
    let body = opened.strip_suffix(CLOSE).ok_or(SummaryFault::End)?;
    if let Some(tag) = control_tag(body) {
        return Err(SummaryFault::ControlTag(tag));
    }
    check_headings(body, language)?;
    let (characters, least) = (body.chars().count(), least(body));
    if input_tokens > LONG_INPUT_TOKENS && characters < least {
        return Err(SummaryFault::TooShort {
            characters,
            least,
            input_tokens,
        });
    }
    Ok(())
}

fn least(body: &str) -> usize {
    let letters = body.chars().filter(|c| c.is_alphabetic()).count();
    let cjk = body.chars().filter(|c| is_cjk(*c)).count();
    match cjk * 2 > letters {
        true => LEAST_CJK,
        false => LEAST,
    }
}

fn check_headings(body: &str, language: Language) -> Result<(), SummaryFault> {
    let headings = language.headings();
    let heading = |line: &str| headings.into_iter().find(|h| *h == line.trim_end());
    let mut found = body.lines().filter_map(heading);
    for expected in headings {
        if found.next() != Some(expected) {
            return Err(SummaryFault::Heading(expected));
        }
    }
    found
        .next()
        .map_or(Ok(()), |again| Err(SummaryFault::Heading(again)))
}

/// The first control tag in `text`, by its whole name: `<toolbar>` and
/// `<system.webServer>` are text, and so is a `<` that no `>` answers.
fn control_tag(text: &str) -> Option<&'static str> {
    text.split('<').skip(1).find_map(|behind| {
        let (tag, _) = behind.split_once('>')?;
        let named = tag.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        let ends_name = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.'));
        let name = named.split(ends_name).next()?;
        CONTROL
            .into_iter()
            .find(|tag| name.eq_ignore_ascii_case(tag))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_model::{CallInput, ToolCall};

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
        for text in [
            "a <toolbar> and <systems>",
            "<system.webServer> and <my:system> and <tool_result-2>",
            "where load <system or 1 < instructions",
            "<systemé>",
        ] {
            assert!(
                check(&summary(&body(Language::English, text)), 0).is_ok(),
                "{text}"
            );
        }
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
    fn cp_12_anything_else_is_rejected_with_what_is_wrong() {
        use SummaryFault::{Beginning, ControlTag, End, Heading};
        let inner = body(Language::English, "word");
        let good = summary(&inner);
        for (bad, fault) in [
            (String::new(), Beginning),
            (inner.clone(), Beginning),
            (format!("Here it is: {good}"), Beginning),
            (format!("```xml\n{good}\n```"), Beginning),
            (good.replace("\"1\"", "\"2\""), Beginning),
            (format!("{good} Done."), End),
            (format!("{OPEN}{inner}"), End),
            (format!("{good}{good}"), ControlTag("conversation_summary")),
            (summary(&format!("{inner} </SYSTEM>")), ControlTag("system")),
            (
                summary(&format!("{inner} < instructions foo>")),
                ControlTag("instructions"),
            ),
            (
                summary(&format!("{inner} <tool_result>")),
                ControlTag("tool_result"),
            ),
            (summary(&format!("{inner} <system/>")), ControlTag("system")),
            (summary(&inner.replace("## Open\n", "")), Heading("## Open")),
            (
                summary(&inner.replace("## Open", "## Decisions")),
                Heading("## Open"),
            ),
            (summary(&format!("{inner}\n## Open")), Heading("## Open")),
            (
                summary(&body(Language::Chinese, "word")),
                Heading("## Resolved"),
            ),
        ] {
            assert_eq!(check(&bad, 0), Err(fault.into()), "{bad}");
        }
    }

    #[test]
    fn cp_12_a_summary_of_much_is_not_short() {
        let good = summary(&body(Language::English, "word"));
        assert!(check(&good, 4_000).is_ok());
        let short = check(&good, 4_001).unwrap_err();
        assert!(short.to_string().contains("at least 500 are expected"));
        let chinese = body(Language::Chinese, "完成");
        let padding = 200 - chinese.chars().count() - 2;
        let just = |n| {
            check_text(
                &summary(&format!("{chinese}{}", "字".repeat(n))),
                Language::Chinese,
                4_001,
            )
        };
        assert_eq!(just(padding), Ok(()));
        assert!(just(padding - 1).is_err());
    }

    #[test]
    fn cp_12_only_an_answer_that_ended_by_itself_without_a_call_counts() {
        let good: Block = BlockKind::Text {
            text: summary(&body(Language::English, "word")),
        }
        .into();
        let call: Block = BlockKind::ToolCall(ToolCall {
            id: "c".to_owned(),
            name: "n".to_owned(),
            input: CallInput::Raw(String::new()),
        })
        .into();
        let judge = |blocks: &[Block], reason| {
            check_summary(blocks, reason, Language::English, 0).map_err(|e| e.code())
        };
        assert!(judge(std::slice::from_ref(&good), FinishReason::Stop).is_ok());
        for reason in [
            FinishReason::Length,
            FinishReason::ToolCalls,
            FinishReason::StopSequence,
        ] {
            assert_eq!(
                judge(std::slice::from_ref(&good), reason),
                Err("invalid_summary")
            );
        }
        assert_eq!(
            judge(&[good, call], FinishReason::Stop),
            Err("invalid_summary")
        );
    }
}
