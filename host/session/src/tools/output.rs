//! What comes of a call, and its bound (TL-1).

use crate::spill;
use sectile_model::{ResultBlock, ResultStatus};
use serde_json::Value;
use std::path::Path;

/// Bytes of text that one result may have in the conversation.
const MAX_TEXT: usize = 32_000;

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// How it ended.
    pub status: ResultStatus,
    /// For the model.
    pub content: Vec<ResultBlock>,
    /// The same for programs.
    pub structured: Option<Value>,
    /// For user interfaces only (CE-13).
    pub artifacts: Vec<Value>,
}

impl ToolOutput {
    /// A text as asked for.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::with_status(ResultStatus::Success, text)
    }

    /// A failure that the model may do something about.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self::with_status(ResultStatus::Error, text)
    }

    pub(crate) fn with_status(status: ResultStatus, text: impl Into<String>) -> Self {
        Self {
            status,
            content: vec![ResultBlock::Text { text: text.into() }],
            structured: None,
            artifacts: Vec::new(),
        }
    }

    /// Its texts, in lines of their own.
    #[must_use]
    pub fn joined(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ResultBlock::Text { text } => Some(text.as_str()),
            ResultBlock::Data(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Cuts what is too long for a conversation and keeps the full text in the
    /// workspace. Where that fails, only the reference is missing.
    pub(crate) fn bounded(mut self, workspace: &Path, session: &str) -> Self {
        let full = self.joined();
        if full.len() <= MAX_TEXT {
            return self;
        }
        let where_it_is = match spill::keep_text(workspace, session, &full) {
            Ok(name) => format!("; the full text is in {name}"),
            Err(_) => String::new(),
        };
        let end = full.floor_char_boundary(MAX_TEXT);
        let shown = full.get(..end).unwrap_or_default();
        // A whole line says more than a part of one, where lines are short.
        let shown = match shown.rsplit_once('\n') {
            Some((lines, rest)) if rest.len() < MAX_TEXT / 4 => lines,
            _ => shown,
        };
        let text = format!(
            "{shown}\n[cut: {} of {} bytes are shown{where_it_is}]",
            shown.len(),
            full.len()
        );
        let data = |block: &ResultBlock| matches!(block, ResultBlock::Data(_));
        self.content.retain(data);
        self.content.insert(0, ResultBlock::Text { text });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tl_1_a_long_result_is_cut_at_a_line_and_kept_whole() {
        let workspace = tempfile::tempdir().unwrap();
        let full = "äöü line\n".repeat(5_000);
        let output = ToolOutput::text(full.clone()).bounded(workspace.path(), "s-1");
        let text = output.joined();
        assert!(text.len() < MAX_TEXT + 200);
        let (shown, note) = text.rsplit_once("\n[cut: ").unwrap();
        assert!(full.starts_with(shown) && shown.ends_with("line"));
        let name = note.rsplit_once(" in ").unwrap().1.trim_end_matches(']');
        let kept = std::fs::read_to_string(workspace.path().join(name)).unwrap();
        assert_eq!(kept, full);
    }

    #[test]
    fn tl_1_a_spill_that_fails_costs_the_reference_and_not_the_result() {
        let nowhere = Path::new("/nonexistent/workspace");
        let output = ToolOutput::text("x".repeat(40_000)).bounded(nowhere, "s-1");
        let text = output.joined();
        assert!(text.starts_with("xxx") && text.ends_with("[cut: 32000 of 40000 bytes are shown]"));
    }

    #[test]
    fn tl_1_what_fits_stays_as_it_is() {
        let output = ToolOutput::error("x".repeat(MAX_TEXT));
        let same = output.clone().bounded(Path::new("/nonexistent"), "s");
        assert_eq!(same, output);
    }
}
