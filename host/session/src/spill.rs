//! The full texts of shortened tool results, as files in the workspace (TL-1,
//! CP-6, CP-7b). They are written below the workspace itself: a link that leads out
//! of it is not followed.

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sectile_engine::compaction::{SpilledResult, spill_reference};
use sectile_store::SessionId;
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Where a session keeps them, relative to the workspace.
pub(crate) fn folder(session: &SessionId) -> Arc<str> {
    format!(".sectile/spill/{session}").into()
}

/// Writes those of `results` that have no file yet, each in one piece.
pub(crate) fn keep(
    workspace: &Path,
    session: &SessionId,
    results: &[SpilledResult<'_>],
) -> io::Result<()> {
    if results.is_empty() {
        return Ok(());
    }
    let folder = folder(session);
    let workspace = Dir::open_ambient_dir(workspace, ambient_authority())?;
    workspace.create_dir_all(&*folder)?;
    for result in results {
        let name = spill_reference(&folder, result.sequence, &result.result.call_id);
        if !workspace.try_exists(&name)? {
            write_whole(&workspace, &name, result.text().as_bytes())?;
        }
    }
    Ok(())
}

/// Keeps the full `text` of a result that is too long for its conversation, and
/// gives its place in the workspace: it is named by its content.
pub(crate) fn keep_text(workspace: &Path, session: &str, text: &str) -> io::Result<String> {
    let folder = format!(".sectile/spill/{session}");
    let hash = Sha256::digest(text);
    let short: String = hash.iter().take(8).map(|b| format!("{b:02x}")).collect();
    let name = format!("{folder}/result-{short}.txt");
    let workspace = Dir::open_ambient_dir(workspace, ambient_authority())?;
    workspace.create_dir_all(&folder)?;
    if !workspace.try_exists(&name)? {
        write_whole(&workspace, &name, text.as_bytes())?;
    }
    Ok(name)
}

/// In one piece under its name, or not at all. One process has the session, so
/// the unfinished file of a process that was killed is written over.
fn write_whole(workspace: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    let unfinished = format!("{name}.part");
    let mut file = workspace.create(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    workspace.rename(&unfinished, workspace, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_model::{ResultBlock, ResultStatus, ToolResult};
    use std::fs;

    fn result(text: &str) -> ToolResult {
        ToolResult {
            call_id: "call:1".to_owned(),
            name: "read".to_owned(),
            status: ResultStatus::Success,
            output: vec![ResultBlock::Text {
                text: text.to_owned(),
            }],
            artifacts: Vec::new(),
        }
    }

    fn keep_one(workspace: &Path, text: &str) -> io::Result<String> {
        let session: SessionId = "s-1".parse().unwrap();
        let result = result(text);
        let spilled = SpilledResult {
            sequence: 7,
            result: &result,
        };
        keep(workspace, &session, &[spilled])?;
        let name = spill_reference(&folder(&session), 7, "call:1");
        fs::read_to_string(workspace.join(name))
    }

    #[test]
    fn cp_7b_a_text_is_written_when_it_has_no_file_yet() {
        let workspace = tempfile::tempdir().unwrap();
        assert_eq!(keep_one(workspace.path(), "whole").unwrap(), "whole");
        fs::remove_dir_all(workspace.path().join(".sectile")).unwrap();
        assert_eq!(keep_one(workspace.path(), "whole").unwrap(), "whole");
        assert_eq!(keep_one(workspace.path(), "later").unwrap(), "whole");
    }

    #[cfg(unix)]
    #[test]
    fn cp_7b_a_link_out_of_the_workspace_is_not_followed() {
        let (workspace, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), workspace.path().join(".sectile")).unwrap();
        assert!(keep_one(workspace.path(), "secret").is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
