//! `todo_write`: the to-do list of a session, kept until it is done.

mod kept;
mod list;

use sectile_sdk::tool::{Tool, Tools};

struct Todo;

impl Tools for Todo {
    fn tools() -> Vec<Tool> {
        vec![
            Tool::new(
                "todo_write",
                "Keeps the to-do list of this session. Give the whole list each time: it replaces \
                 the one before. Without todos it shows the list as it is, for example after a \
                 long conversation was summarised. Use it for work of three steps or more, mark a \
                 step in_progress before you begin it and completed as soon as it is done. Not \
                 for single questions.",
                list::run,
            )
            .idempotent()
            .returns::<list::Counts>(),
        ]
    }
}

sectile_sdk::export_tools!(Todo);
