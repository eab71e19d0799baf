//! CE-7: old, long tool results keep their head and tail.

use crate::text::{head_chars, tail_chars};
use sectile_model::{ResultBlock, ToolResult};

/// Characters up to which a result is left alone.
const THRESHOLD: usize = 8_192;
const HEAD: usize = 4_096;
const TAIL: usize = 1_024;

/// The result with its text shortened, or `None` when it is short enough. The
/// text blocks are joined by newlines and become one block in the place of the
/// first; data blocks stay where they are. `reference` says where the full text is.
pub(crate) fn prune(result: &ToolResult, reference: Option<&str>) -> Option<ToolResult> {
    let texts = || result.output.iter().filter_map(text_of);
    let separators = texts().count().saturating_sub(1);
    let chars = texts().map(|text| text.chars().count()).sum::<usize>() + separators;
    if chars <= THRESHOLD {
        return None;
    }
    let joined = joined(result);
    let omitted = chars - HEAD - TAIL;
    let spilled = reference.map_or_else(String::new, |at| format!("; full text: {at}"));
    let shortened = format!(
        "{}\n[pruned: {omitted} characters omitted{spilled}]\n{}",
        head_chars(&joined, HEAD),
        tail_chars(&joined, TAIL)
    );
    Some(ToolResult {
        output: with_one_text(&result.output, shortened),
        ..result.clone()
    })
}

/// The text blocks, joined by newlines.
pub(crate) fn joined(result: &ToolResult) -> String {
    let texts = result.output.iter().filter_map(text_of);
    texts.collect::<Vec<_>>().join("\n")
}

pub(crate) fn text_of(block: &ResultBlock) -> Option<&str> {
    match block {
        ResultBlock::Text { text } => Some(text),
        ResultBlock::Data(_) => None,
    }
}

/// `blocks` with `text` in the place of the first text block and without the others.
pub(crate) fn with_one_text(blocks: &[ResultBlock], text: String) -> Vec<ResultBlock> {
    let mut text = Some(text);
    blocks
        .iter()
        .filter_map(|block| match block {
            ResultBlock::Text { .. } => text.take().map(|text| ResultBlock::Text { text }),
            ResultBlock::Data(data) => Some(ResultBlock::Data(data.clone())),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_model::ResultStatus;

    fn result(texts: &[&str]) -> ToolResult {
        ToolResult {
            call_id: "c".into(),
            name: "n".into(),
            status: ResultStatus::Success,
            output: texts
                .iter()
                .map(|t| ResultBlock::Text { text: (*t).into() })
                .collect(),
            artifacts: vec![serde_json::json!(1)],
        }
    }

    fn only_text(result: &ToolResult) -> String {
        assert_eq!(result.output.len(), 1);
        text_of(&result.output[0]).unwrap().to_owned()
    }

    #[test]
    fn ce_7_exactly_8192_characters_stay_and_one_more_is_pruned() {
        assert_eq!(prune(&result(&[&"漢".repeat(8_192)]), None), None);
        let pruned = prune(&result(&[&"漢".repeat(8_193)]), None).unwrap();
        let text = only_text(&pruned);
        assert!(text.contains("\n[pruned: 3073 characters omitted]\n"));
        assert_eq!(text.matches('漢').count(), 5_120);
        assert_eq!(pruned.artifacts.len(), 1);
    }

    #[test]
    fn ce_7_the_newlines_between_blocks_count() {
        let half = "x".repeat(4_096);
        assert!(prune(&result(&[&half, &half]), None).is_some());
        assert_eq!(prune(&result(&[&half, half.get(1..).unwrap()]), None), None);
    }

    #[test]
    fn ce_7_what_was_pruned_is_not_pruned_again() {
        let once = prune(&result(&[&"ab".repeat(10_000)]), None).unwrap();
        assert_eq!(prune(&once, None), None);
    }

    #[test]
    fn ce_7_the_marker_says_where_the_full_text_is() {
        let pruned = prune(
            &result(&[&"x".repeat(9_000)]),
            Some(".sectile/spill/s/1-a.txt"),
        )
        .unwrap();
        assert!(only_text(&pruned).contains(
            "\n[pruned: 3880 characters omitted; full text: .sectile/spill/s/1-a.txt]\n"
        ));
    }
}
