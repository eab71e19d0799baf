//! The files that decide what runs.

use crate::dirs::Dirs;
use crate::grants::GRANTS_FILE;
use crate::lock::LOCK_FILE;
use crate::operator::CONFIG_FILE;
use crate::workspace::{WORKSPACE_FILE, Workspace};
use std::path::PathBuf;

/// The files that decide what runs in `workspace`, whether they exist or not:
/// while they stay as they are, so does everything in this crate.
#[must_use]
pub fn deciding_files(workspace: &Workspace, dirs: &Dirs) -> Vec<PathBuf> {
    let components = workspace.file.plugin.iter().map(|plugin| &plugin.path);
    [
        workspace.root.join(WORKSPACE_FILE),
        workspace.root.join(LOCK_FILE),
        dirs.config.join(CONFIG_FILE),
        dirs.data.join(GRANTS_FILE),
    ]
    .into_iter()
    .chain(components.map(|path| workspace.root.join(path)))
    .collect()
}
