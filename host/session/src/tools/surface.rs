//! The tools that a session's requests have: those that are always there, then
//! those that were found, in the order of their discovery (PS-31).

use crate::tools::search::Search;
use crate::tools::{Dispatch, Toolset};
use sectile_model::ToolDefinition;
use sectile_sandbox::one_line;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tools of an open session.
pub(crate) struct Surface {
    tools: Toolset,
    found: Mutex<Found>,
}

struct Found {
    names: Vec<String>,
    definitions: Arc<[ToolDefinition]>,
}

impl Surface {
    /// With the tools that were `found` before (PS-33). One that is not there
    /// any more keeps its place, should it come back.
    pub(crate) fn new(tools: Toolset, found: Vec<String>) -> Self {
        let found = Mutex::new(Found::new(&tools, found));
        Self { tools, found }
    }

    /// What is advertised now.
    pub(crate) fn definitions(&self) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.found().definitions)
    }

    /// Who runs a call of `name`; otherwise what the model is told.
    pub(crate) fn dispatch(&self, name: &str) -> Result<&Dispatch, String> {
        let shown = one_line(name);
        match self.tools.dispatch(name) {
            None => Err(format!("tool_not_found: there is no tool `{shown}`")),
            Some((_, true)) if !self.found().names.iter().any(|found| found == name) => {
                Err(format!(
                    "tool_not_found: `{shown}` has to be found first; call tool_search with \
                     select:{shown}, and `{shown}` in the next step"
                ))
            }
            Some((dispatch, _)) => Ok(dispatch),
        }
    }

    /// Looks for tools: what the model is told, and all that are found then,
    /// when there are more than before.
    pub(crate) fn search(&self, search: &Search) -> (String, Option<Vec<String>>) {
        let (hits, text) = search.run(&self.tools.findable());
        let mut names = self.found().names.clone();
        let before = names.len();
        for hit in hits {
            let name = &hit.definition.name;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let grown = names.len() > before;
        (text, grown.then_some(names))
    }

    /// Advertises `names` from now on.
    pub(crate) fn found_are(&self, names: Vec<String>) {
        let found = Found::new(&self.tools, names);
        *self.found() = found;
    }

    /// The found tools that can be called, for the reminder (CP-14).
    pub(crate) fn found_names(&self) -> Vec<String> {
        let names = self.found().names.clone();
        let there = |name: &String| matches!(self.tools.dispatch(name), Some((_, true)));
        names.into_iter().filter(there).collect()
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Found {
    fn new(tools: &Toolset, names: Vec<String>) -> Self {
        Self {
            definitions: tools.definitions(&names).into(),
            names,
        }
    }
}
