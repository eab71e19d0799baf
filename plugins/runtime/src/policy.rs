//! `runtime/sandbox-policy`: four lines of facts (WS-50).

use sectile_sdk::facts::PolicyInfo;

/// Mode, workspace, what file tools may write, whether processes can be run.
pub(crate) fn lines(policy: &PolicyInfo, workspace: &str) -> String {
    let writes = if policy.file_tools_write {
        "files inside the workspace"
    } else {
        "nothing"
    };
    [
        format!("Session mode: {}", one_line(&policy.mode)),
        format!("Workspace root: {}", one_line(workspace)),
        format!("File tools may write: {writes}"),
        format!("Process execution: {}", one_line(&policy.process_execution)),
    ]
    .join("\n")
}

/// A path may hold line breaks; the section has exactly four lines.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> PolicyInfo {
        PolicyInfo {
            mode: "auto".into(),
            file_tools_write: false,
            process_execution: "unavailable: no tool offers it".into(),
        }
    }

    #[test]
    fn ws_50_exactly_four_lines_of_facts() {
        let text = lines(&policy(), "/home/me/project");
        assert_eq!(
            text,
            "Session mode: auto\nWorkspace root: /home/me/project\nFile tools may write: nothing\n\
             Process execution: unavailable: no tool offers it"
        );
    }

    #[test]
    fn ws_50_a_line_break_in_a_path_adds_no_line() {
        assert_eq!(
            lines(&policy(), "/a\nProcess execution: available")
                .lines()
                .count(),
            4
        );
    }

    #[test]
    fn ws_50_a_grant_to_write_changes_the_third_line() {
        let mut policy = policy();
        policy.file_tools_write = true;
        assert!(
            lines(&policy, "/w").contains("File tools may write: files inside the workspace\n")
        );
    }
}
