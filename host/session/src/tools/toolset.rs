//! The tools of a session: advertised in a fixed order, and what is advertised
//! resolves (SR-40, SR-41).

use crate::tools::arguments::Schema;
use crate::tools::deferral::{Deferrable, deferred};
use crate::tools::search::{self, Findable};
use crate::tools::{FIRST_PARTY, PluginTool, Tool};
use crate::turn::{history, plan};
use sectile_model::ToolDefinition;
use sectile_registry::ToolChoices;
use sectile_sandbox::{Effects, ToolSummary};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tools of a session, built once when it opens.
#[derive(Clone, Default)]
pub(crate) struct Toolset {
    entries: Vec<Entry>,
}

#[derive(Clone)]
struct Entry {
    info: ToolInfo,
    dispatch: Dispatch,
}

/// A tool that can be called.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    /// How the model sees it.
    pub definition: ToolDefinition,
    /// The JSON Schema of its structured output, when it has one.
    pub output_schema: Option<Value>,
    /// What it does to the world, as far as that can be believed.
    pub effects: Effects,
    /// Who runs it: a plugin's id, `program` or `session`.
    pub owner: String,
    /// It has to be found with `tool_search` first (PS-30).
    pub deferred: bool,
}

/// Who runs a call.
#[derive(Clone)]
pub(crate) enum Dispatch {
    /// The session itself: `update_plan`.
    UpdatePlan,
    /// The session itself: `tool_search`.
    Search,
    /// The session itself: `conversation_history`.
    History,
    /// A plugin.
    Plugin(Arc<PluginTool>),
    /// The embedding program.
    Tool {
        tool: Arc<dyn Tool>,
        arguments: Arc<Schema>,
    },
}

/// A tool surface that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolsetError {
    /// A tool has no name.
    #[error("a tool of {owner} has a blank name")]
    Blank {
        /// Whose it is.
        owner: String,
    },
    /// Two tools have one name, or names that look alike (PL-32).
    #[error(
        "`{name}` of {owner} and `{other}` of {other_owner} cannot be told apart; disable one of the plugins"
    )]
    Duplicate {
        /// The later one.
        name: String,
        /// Whose it is.
        owner: String,
        /// The earlier one.
        other: String,
        /// Whose it is.
        other_owner: String,
    },
    /// The schema of a tool of the program cannot be used.
    #[error("the schema of `{name}` cannot be used: {why}")]
    Schema {
        /// The tool.
        name: String,
        /// What is wrong.
        why: String,
    },
}

impl ToolsetError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Blank { .. } => "blank_tool_name",
            Self::Duplicate { .. } => "duplicate_tool_name",
            Self::Schema { .. } => "invalid_tool_schema",
        }
    }
}

impl Toolset {
    /// The tools of plugins with their owners, then those of the program, each
    /// in their order, then the core control tools.
    pub(crate) fn new(
        plugins: Vec<(String, PluginTool)>,
        program: &[Arc<dyn Tool>],
    ) -> Result<Self, ToolsetError> {
        let mut entries: Vec<_> = plugins
            .into_iter()
            .map(|(owner, tool)| Entry {
                info: ToolInfo {
                    definition: tool.definition.clone(),
                    output_schema: tool.output_schema.clone(),
                    effects: tool.effects,
                    owner,
                    deferred: false,
                },
                dispatch: Dispatch::Plugin(Arc::new(tool)),
            })
            .collect();
        for tool in program {
            entries.push(of_program(tool)?);
        }
        let read_only = Effects {
            read_only: true,
            idempotent: true,
            ..Effects::default()
        };
        entries.extend(
            [
                (plan::definition(), Dispatch::UpdatePlan),
                (search::definition(), Dispatch::Search),
                (history::definition(), Dispatch::History),
            ]
            .map(|(definition, dispatch)| Entry {
                info: ToolInfo {
                    definition,
                    output_schema: None,
                    effects: read_only,
                    owner: "session".to_owned(),
                    deferred: false,
                },
                dispatch,
            }),
        );
        told_apart(&entries)?;
        Ok(Self { entries })
    }

    /// Decides which tools have to be found first (PS-30), for a model with
    /// this window.
    pub(crate) fn defer(&mut self, choices: &ToolChoices, context_window: u64) {
        // A copy, since the decision needs them all.
        let before = self.entries.clone();
        let tools: Vec<_> = before.iter().map(Entry::deferrable).collect();
        let decided = deferred(&tools, choices, context_window);
        for (entry, deferred) in self.entries.iter_mut().zip(decided) {
            entry.info.deferred = deferred && !entry.is_core();
        }
    }

    /// All tools in their order. There is no search where all are sent.
    pub(crate) fn infos(&self) -> impl Iterator<Item = &ToolInfo> {
        self.available().map(|entry| &entry.info)
    }

    /// Those of plugins.
    pub(crate) fn of_plugins(&self) -> impl Iterator<Item = &ToolInfo> {
        let entries = self.entries.iter();
        let plugins = entries.filter(|entry| matches!(entry.dispatch, Dispatch::Plugin(_)));
        plugins.map(|entry| &entry.info)
    }

    /// What is advertised once the tools called `found` were: those that are
    /// sent with every request, then these.
    pub(crate) fn definitions(&self, found: &[String]) -> Vec<ToolDefinition> {
        let resident = self.infos().filter(|info| !info.deferred);
        let named = |name: &String| {
            let mut deferred = self.infos().filter(|info| info.deferred);
            deferred.find(|info| info.definition.name == *name)
        };
        let all = resident.chain(found.iter().filter_map(named));
        all.map(|info| info.definition.clone()).collect()
    }

    /// The tools that `tool_search` finds.
    pub(crate) fn findable(&self) -> Vec<Findable<'_>> {
        let deferred = self.entries.iter().filter(|entry| entry.info.deferred);
        deferred
            .map(|entry| Findable {
                definition: &entry.info.definition,
                hint: match &entry.dispatch {
                    Dispatch::Plugin(tool) => tool.search_hint.as_deref(),
                    _ => None,
                },
            })
            .collect()
    }

    /// What sections are told of the tools.
    pub(crate) fn summaries(&self) -> Arc<[ToolSummary]> {
        let summary = |info: &ToolInfo| ToolSummary {
            name: info.definition.name.clone(),
            description: info.definition.description.clone(),
            plugin: info.owner.clone(),
            deferred: info.deferred,
        };
        self.infos().map(summary).collect()
    }

    /// Who runs a call of `name`, and whether it has to be found first.
    pub(crate) fn dispatch(&self, name: &str) -> Option<(&Dispatch, bool)> {
        let mut entries = self.available();
        let entry = entries.find(|entry| entry.info.definition.name == name)?;
        Some((&entry.dispatch, entry.info.deferred))
    }

    fn available(&self) -> impl Iterator<Item = &Entry> {
        let searchable = self.entries.iter().any(|entry| entry.info.deferred);
        let there = move |entry: &&Entry| searchable || !matches!(entry.dispatch, Dispatch::Search);
        self.entries.iter().filter(there)
    }
}

impl Entry {
    fn deferrable(&self) -> Deferrable<'_> {
        let plugin = match &self.dispatch {
            Dispatch::Plugin(tool) => Some(tool),
            _ => None,
        };
        Deferrable {
            info: &self.info,
            wish: plugin.is_some_and(|tool| tool.defer),
            third_party: plugin.is_some() && !self.info.owner.starts_with(FIRST_PARTY),
        }
    }

    /// It belongs to the session itself.
    fn is_core(&self) -> bool {
        matches!(
            self.dispatch,
            Dispatch::UpdatePlan | Dispatch::Search | Dispatch::History
        )
    }
}

fn of_program(tool: &Arc<dyn Tool>) -> Result<Entry, ToolsetError> {
    let definition = tool.definition();
    let arguments = Schema::new(&definition.input_schema);
    let arguments = arguments.map_err(|why| ToolsetError::Schema {
        name: definition.name.clone(),
        why,
    })?;
    Ok(Entry {
        info: ToolInfo {
            definition,
            output_schema: None,
            effects: tool.effects(),
            owner: "program".to_owned(),
            deferred: false,
        },
        dispatch: Dispatch::Tool {
            tool: Arc::clone(tool),
            arguments: Arc::new(arguments),
        },
    })
}

fn told_apart(entries: &[Entry]) -> Result<(), ToolsetError> {
    let mut seen: BTreeMap<String, &ToolInfo> = BTreeMap::new();
    for Entry { info, .. } in entries {
        let name = &info.definition.name;
        if name.trim().is_empty() {
            return Err(ToolsetError::Blank {
                owner: info.owner.clone(),
            });
        }
        let Some(other) = seen.insert(skeleton(name), info) else {
            continue;
        };
        // Within one plugin, names that look alike are its own business.
        if other.owner != info.owner || other.definition.name == *name {
            return Err(ToolsetError::Duplicate {
                name: name.clone(),
                owner: info.owner.clone(),
                other: other.definition.name.clone(),
                other_owner: other.owner.clone(),
            });
        }
    }
    Ok(())
}

/// What is left of a name when characters that look alike are one. Names are
/// ASCII, so the letters of other alphabets cannot occur.
fn skeleton(name: &str) -> String {
    let one = |c: char| match c.to_ascii_lowercase() {
        '0' => 'o',
        '1' | 'i' => 'l',
        '-' => '_',
        c => c,
    };
    name.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{ToolContext, ToolOutput};
    use serde_json::json;

    struct Named(&'static str);

    impl Tool for Named {
        fn definition(&self) -> ToolDefinition {
            ToolDefinition {
                name: self.0.to_owned(),
                description: String::new(),
                input_schema: json!({"type": "object"}),
            }
        }

        fn call(&self, _input: &Value, _context: &ToolContext<'_>) -> ToolOutput {
            ToolOutput::text("")
        }
    }

    fn toolset(names: &[&'static str]) -> Result<Toolset, ToolsetError> {
        let tools: Vec<Arc<dyn Tool>> = names
            .iter()
            .map(|n| Arc::new(Named(n)) as Arc<dyn Tool>)
            .collect();
        Toolset::new(Vec::new(), &tools)
    }

    #[test]
    fn sr_40_what_is_advertised_resolves_and_nothing_else() {
        let tools = toolset(&["b", "a"]).unwrap();
        let names: Vec<_> = tools.definitions(&[]).into_iter().map(|d| d.name).collect();
        assert_eq!(names, ["b", "a", "update_plan", "conversation_history"]);
        assert!(names.iter().all(|name| tools.dispatch(name).is_some()));
        assert!(tools.dispatch("c").is_none());
    }

    #[test]
    fn ps_31_what_is_found_comes_last_and_leaves_the_rest_as_it_was() {
        let mut tools = toolset(&["a", "b", "c"]).unwrap();
        let choices = ToolChoices {
            defer: ["a", "c", "update_plan"].map(str::to_owned).into(),
            ..ToolChoices::default()
        };
        tools.defer(&choices, 100_000);
        let names = |found: &[&str]| -> Vec<String> {
            let found: Vec<_> = found.iter().map(|f| (*f).to_owned()).collect();
            let definitions = tools.definitions(&found).into_iter();
            definitions.map(|d| d.name).collect()
        };
        let resident = ["b", "update_plan", "tool_search", "conversation_history"];
        assert_eq!(names(&[]), resident);
        let found = names(&["c", "gone", "b", "a"]);
        assert_eq!(found[..4], resident);
        assert_eq!(found[4..], ["c", "a"]);
    }

    #[test]
    fn sr_40_blank_and_repeated_names_are_refused() {
        assert_eq!(
            toolset(&[" "]).err().map(|e| e.code()),
            Some("blank_tool_name")
        );
        for names in [&["a", "a"][..], &["update_plan"], &["update-p1an"]] {
            assert_eq!(
                toolset(names).err().map(|e| e.code()),
                Some("duplicate_tool_name")
            );
        }
    }
}
