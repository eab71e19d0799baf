//! `tool_search`: finds the tools that are not sent with every request (PS-31).

use sectile_model::ToolDefinition;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) const TOOL_SEARCH: &str = "tool_search";
const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 20;
/// Characters of a query.
const MAX_QUERY: usize = 500;
/// Characters of a description in the answer.
const SHOWN: usize = 200;

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Search {
    query: Query,
    limit: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Query {
    /// `select:A,B`: these, by name.
    Select(Vec<String>),
    /// Words; those with a `+` must be there.
    Words(Vec<Word>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    must: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    limit: Option<usize>,
}

/// A tool that can be found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Findable<'a> {
    pub(crate) definition: &'a ToolDefinition,
    pub(crate) hint: Option<&'a str>,
}

pub(crate) fn definition() -> ToolDefinition {
    ToolDefinition {
        name: TOOL_SEARCH.to_owned(),
        description:
            "Finds tools that are listed by name only, so that they can be called. Use it \
                      before the first call of such a tool; what it finds can be called in the \
                      next step and stays. Do not use it for tools that can be called already."
                .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_QUERY,
                    "description": "`select:name,name` for tools whose names are known; otherwise words of what the tool does, `+word` for one that must be there"
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "description": "Tools at the most, 5 by default"
                }
            },
            "required": ["query"],
            "additionalProperties": false
        }),
    }
}

impl Search {
    /// The error says what is wrong with the arguments.
    pub(crate) fn parse(input: &Value) -> Result<Self, String> {
        let arguments: Arguments =
            serde_json::from_value(input.clone()).map_err(|e| e.to_string())?;
        let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(format!("limit is {limit}; it is 1 to {MAX_LIMIT}"));
        }
        let text = arguments.query.trim();
        if text.chars().count() > MAX_QUERY {
            return Err(format!("the query has more than {MAX_QUERY} characters"));
        }
        let names = |list: &str| -> Vec<String> {
            let names = list.split(',').map(str::trim);
            let names = names.filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        };
        let query = match text.split_once(':') {
            Some((select, list)) if select.trim().eq_ignore_ascii_case("select") => {
                Query::Select(names(list))
            }
            _ => Query::Words(text.split_whitespace().filter_map(word).collect()),
        };
        match &query {
            Query::Select(names) if names.is_empty() => {
                Err("select names no tool; write `select:name,name`".to_owned())
            }
            Query::Words(words) if words.is_empty() => {
                Err("the query has no words; say what the tool does".to_owned())
            }
            _ => Ok(Self { query, limit }),
        }
    }

    /// What was found among `tools`, best first, and for the model what was not.
    pub(crate) fn run<'a>(&self, tools: &[Findable<'a>]) -> (Vec<Findable<'a>>, String) {
        let (found, missing) = match &self.query {
            Query::Select(names) => self.select(names, tools),
            Query::Words(words) => (self.rank(words, tools), Vec::new()),
        };
        let mut lines = Vec::new();
        if found.is_empty() {
            lines.push(format!(
                "No tool was found; there are {} to find. Try other words.",
                tools.len()
            ));
        } else {
            lines.push("These can be called from the next step on:".to_owned());
            lines.extend(found.iter().map(|tool| {
                let name = &tool.definition.name;
                format!("- {name}: {}", shown(&tool.definition.description))
            }));
        }
        if !missing.is_empty() {
            lines.push(format!("Not there: {}", missing.join(", ")));
        }
        (found, lines.join("\n"))
    }

    fn select<'a>(
        &self,
        names: &[String],
        tools: &[Findable<'a>],
    ) -> (Vec<Findable<'a>>, Vec<String>) {
        let (mut found, mut missing, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
        for name in names.iter().take(MAX_LIMIT) {
            let exact = tools.iter().find(|tool| tool.definition.name == *name);
            let alike = || {
                let alike = |tool: &&Findable<'_>| tool.definition.name.eq_ignore_ascii_case(name);
                tools.iter().find(alike)
            };
            match exact.or_else(alike) {
                Some(tool) if seen.insert(tool.definition.name.as_str()) => found.push(*tool),
                Some(_) => {}
                None => missing.push(sectile_sandbox::one_line(name)),
            }
        }
        (found, missing)
    }

    fn rank<'a>(&self, words: &[Word], tools: &[Findable<'a>]) -> Vec<Findable<'a>> {
        let scored = tools.iter().filter_map(|tool| {
            let text = Text::of(tool);
            let mut sum = 0;
            for word in words {
                match text.score(&word.text) {
                    0 if word.must => return None,
                    score => sum += score,
                }
            }
            (sum > 0).then_some((sum, *tool))
        });
        let mut scored: Vec<_> = scored.collect();
        // Stable: equals stay in the order of the tools.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let best = scored.into_iter().take(self.limit);
        best.map(|(_, tool)| tool).collect()
    }
}

fn word(text: &str) -> Option<Word> {
    let bare = text.strip_prefix('+').unwrap_or(text);
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric());
    (!bare.is_empty()).then(|| Word {
        text: bare.to_lowercase(),
        must: text.starts_with('+'),
    })
}

/// The words of a tool.
struct Text {
    name: BTreeSet<String>,
    hint: String,
    description: String,
}

impl Text {
    fn of(tool: &Findable<'_>) -> Self {
        Self {
            name: parts(&tool.definition.name),
            hint: tool.hint.unwrap_or_default().to_lowercase(),
            description: tool.definition.description.to_lowercase(),
        }
    }

    /// A part of the name says most, a word in the description least. Whatever
    /// has no spaces between its words, such as Chinese, is found inside a text.
    fn score(&self, word: &str) -> u32 {
        let name = match word {
            _ if self.name.contains(word) => 12,
            _ if parts(word).is_subset(&self.name) => 12,
            _ if self.name.iter().any(|part| part.contains(word)) => 6,
            _ => 0,
        };
        let inside = |text: &str, whole: u32, part: u32| match text {
            _ if words(text).any(|other| other == word) => whole,
            _ if text.contains(word) => part,
            _ => 0,
        };
        name + inside(&self.hint, 4, 2) + inside(&self.description, 2, 1)
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
}

/// The parts of `createPull_request`: create, pull, request.
fn parts(name: &str) -> BTreeSet<String> {
    let mut parts = BTreeSet::new();
    for piece in words(name).filter(|piece| !piece.is_empty()) {
        let mut part = String::new();
        let mut before_is_lower = false;
        for c in piece.chars() {
            if c.is_uppercase() && before_is_lower {
                parts.insert(std::mem::take(&mut part));
            }
            before_is_lower = c.is_lowercase() || c.is_numeric();
            part.extend(c.to_lowercase());
        }
        parts.insert(part);
    }
    parts
}

/// The first line of a description, shortened.
fn shown(description: &str) -> String {
    let line = description.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<(ToolDefinition, Option<&'static str>)> {
        let tool = |name: &str, description: &str, hint| {
            let definition = ToolDefinition {
                name: name.to_owned(),
                description: description.to_owned(),
                input_schema: json!({"type": "object"}),
            };
            (definition, hint)
        };
        vec![
            tool("hub__createPullRequest", "Opens a request to merge.", None),
            tool("hub__list_issues", "Lists issues.\nOf a project.", None),
            tool(
                "mail__send",
                "Sends a message to a person.",
                Some("email smtp"),
            ),
            tool("weather__now", "查询一个城市的天气。", None),
        ]
    }

    fn find(query: &str, limit: usize) -> (Vec<String>, String) {
        let tools = tools();
        let findable: Vec<_> = tools
            .iter()
            .map(|(definition, hint)| Findable {
                definition,
                hint: *hint,
            })
            .collect();
        let search = Search::parse(&json!({"query": query, "limit": limit})).unwrap();
        let (found, text) = search.run(&findable);
        let names = found.iter().map(|tool| tool.definition.name.clone());
        (names.collect(), text)
    }

    #[test]
    fn ps_31_words_score_over_name_parts_hint_and_description() {
        for (query, expected) in [
            ("pull request", &["hub__createPullRequest"][..]),
            ("email", &["mail__send"]),
            ("list_issues", &["hub__list_issues"]),
            ("hub", &["hub__createPullRequest", "hub__list_issues"]),
            ("hub +issues", &["hub__list_issues"]),
            ("天气", &["weather__now"]),
            ("PERSON!", &["mail__send"]),
            ("nothing", &[]),
            ("+hub +send", &[]),
        ] {
            assert_eq!(find(query, 5).0, expected, "{query}");
        }
        assert_eq!(find("hub", 1).0, ["hub__createPullRequest"]);
    }

    #[test]
    fn ps_31_select_takes_names_in_the_order_that_was_asked_for() {
        let (found, text) = find("select:mail__send, HUB__list_issues,gone,mail__send", 1);
        assert_eq!(found, ["mail__send", "hub__list_issues"]);
        assert!(
            text.ends_with("- hub__list_issues: Lists issues.\nNot there: gone"),
            "{text}"
        );
        assert_eq!(find("Select: weather__now", 5).0, ["weather__now"]);
    }

    #[test]
    fn ps_31_a_query_that_says_nothing_is_an_error() {
        for bad in [
            json!({"query": ""}),
            json!({"query": "+ !"}),
            json!({"query": "select:,"}),
            json!({"query": "a", "limit": 0}),
            json!({"query": "a", "limit": 21}),
            json!({"query": "a".repeat(501)}),
            json!({"query": "a", "more": 1}),
            json!({}),
        ] {
            assert!(Search::parse(&bad).is_err(), "{bad}");
        }
        assert!(find("zzz", 5).1.contains("there are 4 to find"));
    }
}
