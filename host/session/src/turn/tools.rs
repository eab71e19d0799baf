//! The tools of a session: advertised in a fixed order, and what is advertised
//! resolves (SR-40, SR-41).

use crate::turn::{history, plan};
use sectile_model::{ResultBlock, ResultStatus, ToolDefinition};
use sectile_sandbox::CancelToken;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A tool of the program that embeds the host.
pub trait Tool: Send + Sync {
    /// How the model sees it; the same for the life of the session.
    fn definition(&self) -> ToolDefinition;

    /// Runs one call. The conversation waits; watch `context.cancel`.
    fn call(&self, input: &Value, context: &ToolContext<'_>) -> ToolOutput;
}

/// What a tool is told of a call.
#[derive(Debug, Clone, Copy)]
pub struct ToolContext<'a> {
    /// The session.
    pub session: &'a str,
    /// The call's id, unique in its message.
    pub call_id: &'a str,
    /// Set when the turn is cancelled.
    pub cancel: &'a CancelToken,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// How it ended.
    pub status: ResultStatus,
    /// For the model.
    pub content: Vec<ResultBlock>,
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
            artifacts: Vec::new(),
        }
    }
}

/// The tools of a session, built once when it opens.
#[derive(Clone, Default)]
pub(crate) struct Toolset {
    entries: Vec<(ToolDefinition, Dispatch)>,
}

/// Who runs a call.
#[derive(Clone)]
pub(crate) enum Dispatch {
    /// The session itself: `update_plan`.
    UpdatePlan,
    /// The session itself: `conversation_history`.
    History,
    /// A tool of the embedding program.
    Tool(Arc<dyn Tool>),
}

/// A tool surface that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolsetError {
    /// A tool has no name.
    #[error("a tool has a blank name")]
    Blank,
    /// Two tools have one name.
    #[error("two tools are called `{name}`")]
    Duplicate {
        /// The name.
        name: String,
    },
}

impl ToolsetError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Blank => "blank_tool_name",
            Self::Duplicate { .. } => "duplicate_tool_name",
        }
    }
}

impl Toolset {
    /// `tools` in their order, then the core control tools.
    pub(crate) fn new(tools: &[Arc<dyn Tool>]) -> Result<Self, ToolsetError> {
        let given = tools
            .iter()
            .map(|tool| (tool.definition(), Dispatch::Tool(Arc::clone(tool))));
        let control = [
            (plan::definition(), Dispatch::UpdatePlan),
            (history::definition(), Dispatch::History),
        ];
        let entries: Vec<_> = given.chain(control).collect();
        let mut names = BTreeSet::new();
        for (definition, _) in &entries {
            if definition.name.trim().is_empty() {
                return Err(ToolsetError::Blank);
            }
            if !names.insert(&definition.name) {
                return Err(ToolsetError::Duplicate {
                    name: definition.name.clone(),
                });
            }
        }
        Ok(Self { entries })
    }

    pub(crate) fn definitions(&self) -> Vec<ToolDefinition> {
        self.entries.iter().map(|(d, _)| d.clone()).collect()
    }

    pub(crate) fn dispatch(&self, name: &str) -> Option<&Dispatch> {
        let entry = self.entries.iter().find(|(d, _)| d.name == name)?;
        Some(&entry.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        Toolset::new(&tools)
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
        assert_eq!(toolset(&[" "]).err(), Some(ToolsetError::Blank));
        for names in [&["a", "a"][..], &["update_plan"]] {
            assert_eq!(
                toolset(names).err().map(|e| e.code()),
                Some("duplicate_tool_name")
            );
        }
    }
}
