//! `write` and `edit`: changing files of the workspace.

mod change;
mod edit;
mod write;

use sectile_sdk::tool::{Tool, Tools};

struct Edit;

impl Tools for Edit {
    fn tools() -> Vec<Tool> {
        vec![
            Tool::new(
                "write",
                "Writes a whole file of the workspace, new or in place of the old contents; \
                 missing directories are made. An existing file has to be read first. For a \
                 small change use edit.",
                write::run,
            )
            .destructive()
            .idempotent(),
            Tool::new(
                "edit",
                "Replaces a text in a file of the workspace by another. The file has to be read \
                 first. The old text has to match exactly, without line numbers, and to occur \
                 once unless replace_all is set. Not for new files (use write).",
                edit::run,
            )
            .destructive(),
        ]
    }
}

sectile_sdk::export_tools!(Edit);
