//! CE-8: one tool result never takes more than 8 000 tokens.

use crate::prune::{text_of, with_one_text};
use crate::text::{head_bytes, tail_bytes};
use sectile_model::{Data, ResultBlock, ToolResult};

const MAX_TOKENS: usize = 8_000;
/// Bytes of all text together, marker included.
const MAX_BYTES: usize = 32_000;
const BYTES_PER_TOKEN: usize = 4;

/// The result within bounds, or `None` when it is within them already. Data
/// blocks go first; text is cut only when it alone is still too much.
pub(crate) fn project(result: &ToolResult) -> Option<ToolResult> {
    let text_bytes: usize = result.output.iter().filter_map(text_of).map(str::len).sum();
    let data = || result.output.iter().filter_map(data_of);
    let data_bytes: usize = data().map(data_size).sum();
    let tokens = (text_bytes + data_bytes).div_ceil(BYTES_PER_TOKEN);
    if tokens <= MAX_TOKENS {
        return None;
    }
    let mut output: Vec<_> = result
        .output
        .iter()
        .filter(|b| data_of(b).is_none())
        .cloned()
        .collect();
    let blocks = data().count();
    if blocks > 0 {
        output.push(ResultBlock::Text {
            text: format!("[{blocks} data block(s) omitted, about {data_bytes} bytes]"),
        });
    }
    let all: String = output.iter().filter_map(text_of).collect();
    if all.len().div_ceil(BYTES_PER_TOKEN) > MAX_TOKENS {
        output = with_one_text(&output, cut(&all, tokens));
    }
    output.retain(|block| text_of(block) != Some(""));
    Some(ToolResult {
        output,
        ..result.clone()
    })
}

fn cut(text: &str, tokens: usize) -> String {
    let marker = format!(
        "\n[truncated: about {tokens} tokens in full, {MAX_TOKENS} shown; ask for a narrower range]\n"
    );
    let room = MAX_BYTES - marker.len();
    let head = room * 3 / 4;
    format!(
        "{}{marker}{}",
        head_bytes(text, head),
        tail_bytes(text, room - head)
    )
}

fn data_of(block: &ResultBlock) -> Option<&Data> {
    match block {
        ResultBlock::Data(data) => Some(data),
        ResultBlock::Text { .. } => None,
    }
}

fn data_size(data: &Data) -> usize {
    data.source.text().len() + data.media_type.len() + data.name.as_ref().map_or(0, String::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_model::{DataSource, ResultStatus};

    fn result(output: Vec<ResultBlock>) -> ToolResult {
        ToolResult {
            call_id: "c".into(),
            name: "n".into(),
            status: ResultStatus::Error,
            output,
            artifacts: vec![],
        }
    }

    fn text(text: &str) -> ResultBlock {
        ResultBlock::Text { text: text.into() }
    }

    fn image(bytes: usize) -> ResultBlock {
        ResultBlock::Data(Data {
            media_type: "image/png".into(),
            source: DataSource::Base64("Q".repeat(bytes)),
            name: None,
        })
    }

    #[test]
    fn ce_8_exactly_8000_tokens_pass_and_one_byte_more_is_cut_to_32000_bytes() {
        assert_eq!(project(&result(vec![text(&"x".repeat(32_000))])), None);
        let cut = project(&result(vec![text(&"x".repeat(32_001))])).unwrap();
        let cut = text_of(&cut.output[0]).unwrap().to_owned();
        assert_eq!(cut.len(), 32_000);
        assert!(cut.contains(
            "\n[truncated: about 8001 tokens in full, 8000 shown; ask for a narrower range]\n"
        ));
    }

    #[test]
    fn ce_8_characters_are_never_cut() {
        let cut = project(&result(vec![text(&"漢".repeat(20_000))])).unwrap();
        let cut = text_of(&cut.output[0]).unwrap().to_owned();
        assert!(cut.len() <= 32_000 && cut.len() > 31_990);
    }

    #[test]
    fn ce_8_data_goes_before_any_text_is_cut() {
        let projected = project(&result(vec![text("a"), image(40_000), text("")])).unwrap();
        assert_eq!(
            projected.output,
            [
                text("a"),
                text("[1 data block(s) omitted, about 40009 bytes]")
            ]
        );
        assert_eq!(project(&result(vec![image(31_991)])), None);
        assert!(project(&result(vec![image(31_992)])).is_some());
    }

    #[test]
    fn ce_8_what_was_projected_is_not_projected_again() {
        for blocks in [
            vec![text(&"é".repeat(50_000)), image(90_000)],
            vec![image(90_000)],
        ] {
            assert_eq!(project(&project(&result(blocks)).unwrap()), None);
        }
    }
}
