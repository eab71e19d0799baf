//! The tools of a session: advertised in a fixed order, and what is advertised
//! resolves (SR-40, SR-41).

use crate::tools::arguments::Schema;
use crate::tools::{PluginTool, Tool};
use crate::turn::{history, plan};
use sectile_model::ToolDefinition;
use sectile_sandbox::Effects;
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

/// A tool that is advertised.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    /// How the model sees it.
    pub definition: ToolDefinition,
    /// What it does to the world, as far as that can be believed.
    pub effects: Effects,
    /// Who runs it: a plugin's id, `program` or `session`.
    pub owner: String,
}

/// Who runs a call.
#[derive(Clone)]
pub(crate) enum Dispatch {
    /// The session itself: `update_plan`.
    UpdatePlan,
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
                    effects: tool.effects,
                    owner,
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
                (history::definition(), Dispatch::History),
            ]
            .map(|(definition, dispatch)| Entry {
                info: ToolInfo {
                    definition,
                    effects: read_only,
                    owner: "session".to_owned(),
                },
                dispatch,
            }),
        );
        told_apart(&entries)?;
        Ok(Self { entries })
    }

    /// What is advertised, in its order.
    pub(crate) fn infos(&self) -> impl Iterator<Item = &ToolInfo> {
        self.entries.iter().map(|entry| &entry.info)
    }

    pub(crate) fn definitions(&self) -> Vec<ToolDefinition> {
        self.infos().map(|info| info.definition.clone()).collect()
    }

    pub(crate) fn dispatch(&self, name: &str) -> Option<&Dispatch> {
        let named = |entry: &&Entry| entry.info.definition.name == name;
        Some(&self.entries.iter().find(named)?.dispatch)
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
            effects: tool.effects(),
            owner: "program".to_owned(),
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
    use serde_json::{Value, json};

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
        let names: Vec<_> = tools.definitions().into_iter().map(|d| d.name).collect();
        assert_eq!(names, ["b", "a", "update_plan", "conversation_history"]);
        assert!(names.iter().all(|name| tools.dispatch(name).is_some()));
        assert!(tools.dispatch("c").is_none());
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
