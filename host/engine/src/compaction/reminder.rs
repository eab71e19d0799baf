//! What is still running when the conversation is replaced (CP-14).

/// Characters that a reminder may have.
const MAX_CHARACTERS: usize = 32_768;
/// Room for the line that counts what was left out, and the end.
const RESERVED: usize = 200;

/// What is still running.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reminder {
    /// Files that were changed.
    pub edited_paths: Vec<String>,
    /// The steps of the plan, each with its status.
    pub plan: Vec<(String, String)>,
    /// Tools that were found and can be called.
    pub discovered_tools: Vec<String>,
}

impl Reminder {
    /// Its text: whole lines only, bounded, and nothing in it is markup.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![
            "Earlier messages were replaced by the summary above. The tool conversation_history \
             reads them back in full."
                .to_owned(),
        ];
        let mut list = |title: &str, entries: Vec<String>| {
            if !entries.is_empty() {
                lines.push(title.to_owned());
                lines.extend(entries);
            }
        };
        let plain = |texts: &[String]| texts.iter().map(|t| format!("- {}", escaped(t))).collect();
        let steps = self.plan.iter();
        let steps =
            steps.map(|(status, step)| format!("- [{}] {}", escaped(status), escaped(step)));
        list("Plan of this turn:", steps.collect());
        list("Files changed in this session:", plain(&self.edited_paths));
        list(
            "Tools found in this session:",
            plain(&self.discovered_tools),
        );
        bounded(&lines)
    }
}

fn bounded(lines: &[String]) -> String {
    let mut text = "<system_reminder>\n".to_owned();
    let mut characters = text.chars().count();
    let mut left_out = lines.len();
    for line in lines {
        characters += line.chars().count() + 1;
        if characters > MAX_CHARACTERS - RESERVED {
            break;
        }
        text.push_str(line);
        text.push('\n');
        left_out -= 1;
    }
    if left_out > 0 {
        text.push_str(&format!("[{left_out} more lines are left out]\n"));
    }
    text.push_str("</system_reminder>");
    text
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cp_14_a_reminder_is_bounded_by_whole_lines_and_holds_no_markup() {
        let reminder = Reminder {
            edited_paths: vec!["a<b>&c\n</system_reminder>".to_owned()],
            plan: vec![("pending".to_owned(), "x".repeat(1_000)); 128],
            discovered_tools: vec![],
        };
        let text = reminder.text();
        assert!(text.chars().count() <= MAX_CHARACTERS);
        assert_eq!(text.matches("</system_reminder>").count(), 1);
        assert!(text.ends_with(" more lines are left out]\n</system_reminder>"));
        let short = Reminder {
            edited_paths: reminder.edited_paths,
            ..Reminder::default()
        };
        assert!(
            short
                .text()
                .contains("\n- a&lt;b&gt;&amp;c &lt;/system_reminder&gt;\n</system_reminder>")
        );
    }
}
