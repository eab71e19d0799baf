//! `runtime/deferred-tools`: the names that `tool_search` finds (PS-32).

use sectile_sdk::facts::ToolSummary;

/// Bytes of names; what is beyond is found by words.
const MAX_BYTES: usize = 24_000;

/// One line for each plugin; `None` when every tool can be called at once.
pub(crate) fn lines(tools: &[ToolSummary]) -> Option<String> {
    let mut deferred = tools.iter().filter(|tool| tool.deferred).peekable();
    deferred.peek()?;
    let mut text = String::from("These tools can be called once tool_search has found them:");
    let (mut owner, mut left_out) = (None, 0);
    for tool in deferred {
        if text.len() + tool.name.len() + tool.plugin.len() > MAX_BYTES {
            left_out += 1;
        } else if owner == Some(&tool.plugin) {
            text.push_str(", ");
            text.push_str(&tool.name);
        } else {
            text.push_str(&format!("\n- {}: {}", tool.plugin, tool.name));
            owner = Some(&tool.plugin);
        }
    }
    if left_out > 0 {
        text.push_str(&format!("\nand {left_out} more"));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(plugin: &str, name: &str, deferred: bool) -> ToolSummary {
        ToolSummary {
            name: name.into(),
            description: "Does something.".into(),
            plugin: plugin.into(),
            deferred,
        }
    }

    #[test]
    fn ps_32_names_stand_by_their_plugin() {
        let tools = [
            tool("sectile/files", "read", false),
            tool("acme/hub", "hub__issue", true),
            tool("acme/hub", "hub__merge", true),
            tool("acme/mail", "mail__send", true),
        ];
        assert_eq!(
            lines(&tools).unwrap(),
            "These tools can be called once tool_search has found them:\n\
             - acme/hub: hub__issue, hub__merge\n- acme/mail: mail__send"
        );
        assert_eq!(lines(&tools[..1]), None);
    }

    #[test]
    fn ps_32_the_list_is_bounded_and_says_so() {
        let tools: Vec<_> = (0..2_000)
            .map(|n| tool("acme/many", &format!("many__tool_{n:04}"), true))
            .collect();
        let text = lines(&tools).unwrap();
        assert!(text.len() < MAX_BYTES + 100);
        let named = text.matches("many__").count();
        assert!(text.ends_with(&format!("and {} more", 2_000 - named)));
    }
}
