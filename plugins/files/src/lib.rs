//! `read` and `list`: looking at the workspace.

mod list;
mod read;

use sectile_sdk::tool::{Tool, Tools};

struct Files;

impl Tools for Files {
    fn tools() -> Vec<Tool> {
        vec![
            Tool::new(
                "read",
                "Reads a text file of the workspace. Each line comes as its number, a tab and \
                 its text; the last line says which lines are shown and where to go on. Read a \
                 file before you change it. Not for directories (use list) or binary files.",
                read::run,
            )
            .read_only(),
            Tool::new(
                "list",
                "Lists one directory of the workspace, sorted by name; directories end in `/`, \
                 symbolic links in `@`. Use it to find your way, not to search for text.",
                list::run,
            )
            .read_only(),
        ]
    }
}

sectile_sdk::export_tools!(Files);
