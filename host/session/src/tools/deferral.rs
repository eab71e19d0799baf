//! Which tools a model has to find before it can call them (PS-30).

use crate::tools::ToolInfo;
use sectile_engine::estimate_tokens;
use sectile_model::ToolDefinition;
use sectile_registry::ToolChoices;

/// Tools that are sent with every request, above which third parties' wait.
const MAX_RESIDENT: usize = 50;
/// The part of the window that they may take.
const WINDOW_SHARE: u64 = 10;

/// A tool, as far as it matters here.
pub(crate) struct Deferrable<'a> {
    pub(crate) info: &'a ToolInfo,
    /// What its plugin wishes.
    pub(crate) wish: bool,
    /// It comes from neither the program nor its embedder.
    pub(crate) third_party: bool,
}

/// For each of `tools`, whether it is deferred. The operator's `always_load`
/// wins; then what the plugin wishes, then what the operator names; and when
/// the others are too many or too long, all third parties' are.
pub(crate) fn deferred(
    tools: &[Deferrable<'_>],
    choices: &ToolChoices,
    context_window: u64,
) -> Vec<bool> {
    let always = |tool: &Deferrable<'_>| names(&choices.always_load, tool.info);
    let asked: Vec<_> = tools
        .iter()
        .map(|tool| !always(tool) && (tool.wish || names(&choices.defer, tool.info)))
        .collect();
    let resident = || tools.iter().zip(&asked).filter(|(_, deferred)| !**deferred);
    let tokens: u64 = resident()
        .map(|(tool, _)| tokens(&tool.info.definition))
        .sum();
    if resident().count() <= MAX_RESIDENT && tokens <= context_window / WINDOW_SHARE {
        return asked;
    }
    let crowded = tools.iter().zip(asked);
    crowded
        .map(|(tool, asked)| asked || (tool.third_party && !always(tool)))
        .collect()
}

fn names(chosen: &std::collections::BTreeSet<String>, info: &ToolInfo) -> bool {
    chosen.contains(&info.definition.name) || chosen.contains(&info.owner)
}

fn tokens(definition: &ToolDefinition) -> u64 {
    serde_json::to_string(definition).map_or(0, |json| estimate_tokens(&json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_sandbox::Effects;
    use serde_json::json;

    fn info(n: usize, owner: &str, words: usize) -> ToolInfo {
        ToolInfo {
            definition: ToolDefinition {
                name: format!("t{n}"),
                description: "word ".repeat(words),
                input_schema: json!({"type": "object"}),
            },
            output_schema: None,
            effects: Effects::default(),
            owner: owner.to_owned(),
            deferred: false,
        }
    }

    fn decide(infos: &[ToolInfo], choices: &ToolChoices, window: u64) -> Vec<bool> {
        let tools: Vec<_> = infos
            .iter()
            .map(|info| Deferrable {
                info,
                wish: info.definition.name == "t0",
                third_party: info.owner.starts_with("acme/"),
            })
            .collect();
        deferred(&tools, choices, window)
    }

    fn choices(always: &[&str], defer: &[&str]) -> ToolChoices {
        let set = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        ToolChoices {
            always_load: set(always),
            defer: set(defer),
        }
    }

    #[test]
    fn ps_30_always_load_wins_then_the_plugin_then_the_operator() {
        let tools = [
            info(0, "acme/a", 1),
            info(1, "acme/a", 1),
            info(2, "sectile/b", 1),
        ];
        let decided = |c| decide(&tools, &c, 100_000);
        assert_eq!(decided(choices(&[], &[])), [true, false, false]);
        assert_eq!(decided(choices(&["t0"], &["t0"])), [false, false, false]);
        assert_eq!(decided(choices(&["acme/a"], &[])), [false, false, false]);
        assert_eq!(
            decided(choices(&["t1"], &["acme/a", "t2"])),
            [true, false, true]
        );
    }

    #[test]
    fn ps_30_more_than_fifty_tools_defer_third_parties() {
        let tools: Vec<_> = (1..=51)
            .map(|n| info(n, if n > 40 { "acme/a" } else { "sectile/b" }, 1))
            .collect();
        let none = decide(&tools[..50], &choices(&[], &[]), 1_000_000);
        assert!(none.iter().all(|deferred| !deferred));
        let decided = decide(&tools, &choices(&["t51"], &[]), 1_000_000);
        let waiting = decided.iter().filter(|deferred| **deferred).count();
        assert_eq!((waiting, decided[50]), (10, false));
    }

    #[test]
    fn ps_30_a_tenth_of_the_window_is_the_most() {
        let tools = [info(1, "acme/a", 400), info(2, "sectile/b", 400)];
        let none = choices(&[], &[]);
        assert_eq!(decide(&tools, &none, 100_000), [false, false]);
        assert_eq!(decide(&tools, &none, 5_000), [true, false]);
    }
}
