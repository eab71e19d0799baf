//! A workspace and what its `sectile.toml` proposes.

use crate::error::RegistryError;
use crate::lock::Lock;
use crate::source_file::read_text;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sectile_model::PluginId;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Name of the workspace's own file.
pub(crate) const WORKSPACE_FILE: &str = "sectile.toml";

/// A workspace.
#[derive(Debug)]
pub struct Workspace {
    /// Its directory, without links.
    pub root: PathBuf,
    /// The nearest directory, from the workspace upwards, with a `.git` entry of any type (WS-20).
    pub repository_root: Option<PathBuf>,
    /// What it proposes; the default when it has no `sectile.toml`.
    pub file: WorkspaceFile,
    /// Whether it has a `sectile.toml`.
    pub is_initialised: bool,
    /// What its `sectile.lock` pins.
    pub lock: Lock,
    pub(crate) dir: Dir,
}

/// `sectile.toml`: what a project proposes. It grants nothing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceFile {
    /// Name of the profile.
    pub profile: Option<String>,
    /// Further plugins, in the order of their sections (WS-1).
    pub plugin: Vec<ProposedPlugin>,
    /// Configuration by plugin.
    pub config: BTreeMap<PluginId, toml::Table>,
    /// Directories of skills inside the workspace, besides the profile's (WS-40).
    pub skill_roots: Vec<PathBuf>,
}

/// A plugin that the project proposes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedPlugin {
    /// Its identity.
    pub id: PluginId,
    /// Its component, relative to the workspace.
    pub path: PathBuf,
    /// Whether its sections are sent.
    #[serde(default = "enabled")]
    pub enabled: bool,
    /// What happens when one of its sections fails (WS-5).
    #[serde(default)]
    pub on_error: ErrorPolicy,
}

fn enabled() -> bool {
    true
}

/// What happens when a section fails (WS-5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorPolicy {
    /// The turn ends.
    #[default]
    Fail,
    /// It counts as unchanged, and the operator is told.
    Omit,
}

impl Workspace {
    /// The workspace at `given`, or around the current directory: the nearest
    /// ancestor with a `sectile.toml`, else the current directory itself.
    ///
    /// # Errors
    /// [`RegistryError`] when the directory cannot be opened or a file in it is
    /// not valid.
    pub fn open(given: Option<&Path>) -> Result<Self, RegistryError> {
        let start = given.unwrap_or(Path::new("."));
        let failed = |why: std::io::Error| RegistryError::File {
            path: start.to_owned(),
            why: why.to_string(),
        };
        let start_path = start.canonicalize().map_err(failed)?;
        let marked = start_path
            .ancestors()
            .find(|dir| dir.join(WORKSPACE_FILE).symlink_metadata().is_ok());
        let root = match (given, marked) {
            (None, Some(marked)) => marked.to_owned(),
            _ => start_path.clone(),
        };
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(failed)?;
        let text = read_text(&dir, &root, WORKSPACE_FILE)?;
        let file = match &text {
            Some(text) => parse(text, &root.join(WORKSPACE_FILE))?,
            None => WorkspaceFile::default(),
        };
        Ok(Self {
            repository_root: repository_root(&root),
            lock: Lock::read(&dir, &root)?,
            is_initialised: text.is_some(),
            file,
            root,
            dir,
        })
    }

    /// Writes a first `sectile.toml` for `profile`.
    ///
    /// # Errors
    /// [`RegistryError`] when there is one already or it cannot be written.
    pub fn init(&self, profile: &str) -> Result<PathBuf, RegistryError> {
        use std::io::Write;
        let path = self.root.join(WORKSPACE_FILE);
        let text = format!(
            "# What this project proposes to sectile. It grants nothing: plugins run only\n\
             # after `sectile plugin approve`.\nprofile = \"{profile}\"\n"
        );
        let failed = |why: std::io::Error| RegistryError::File {
            path: path.clone(),
            why: match why.kind() {
                std::io::ErrorKind::AlreadyExists => {
                    "it exists already; edit it instead".to_owned()
                }
                _ => why.to_string(),
            },
        };
        let mut options = cap_std::fs::OpenOptions::new();
        let mut file = self
            .dir
            .open_with(WORKSPACE_FILE, options.write(true).create_new(true))
            .map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(path)
    }
}

fn parse(text: &str, path: &Path) -> Result<WorkspaceFile, RegistryError> {
    let invalid = |why: String| RegistryError::Invalid {
        path: path.to_owned(),
        why,
    };
    let file: WorkspaceFile = toml::from_str(text).map_err(|e| invalid(e.to_string()))?;
    let paths = file.plugin.iter().map(|p| &p.path).chain(&file.skill_roots);
    for inside in paths {
        if !is_inside(inside) {
            return Err(invalid(format!(
                "`{}` is not a path inside the workspace",
                inside.display()
            )));
        }
    }
    for (n, plugin) in file.plugin.iter().enumerate() {
        if file
            .plugin
            .iter()
            .take(n)
            .any(|other| other.id == plugin.id)
        {
            return Err(invalid(format!(
                "the plugin {} is proposed twice",
                plugin.id
            )));
        }
    }
    Ok(file)
}

fn is_inside(path: &Path) -> bool {
    let normal = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !path.as_os_str().is_empty() && path.components().all(normal)
}

fn repository_root(from: &Path) -> Option<PathBuf> {
    let has_git = |dir: &&Path| dir.join(".git").symlink_metadata().is_ok();
    from.ancestors().find(has_git).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s18_paths_that_lead_out_of_the_workspace_are_refused() {
        for path in ["/abs.wasm", "../up.wasm", "a/../../b.wasm", ""] {
            let text = format!("[[plugin]]\nid = \"a/b\"\npath = \"{path}\"\n");
            assert!(parse(&text, Path::new("sectile.toml")).is_err(), "{path}");
            assert!(
                parse(
                    &format!("skill_roots = [\"{path}\"]"),
                    Path::new("sectile.toml")
                )
                .is_err(),
                "{path}"
            );
        }
    }

    #[test]
    fn unknown_keys_and_duplicates_are_named() {
        let error = parse("profil = \"x\"", Path::new("sectile.toml"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 1") && error.contains("profil"),
            "{error}"
        );
        let twice = "[[plugin]]\nid = \"a/b\"\npath = \"x\"\n".repeat(2);
        assert!(
            parse(&twice, Path::new("sectile.toml"))
                .unwrap_err()
                .to_string()
                .contains("twice")
        );
    }

    #[test]
    fn ws_20_the_repository_is_the_nearest_ancestor_with_a_git_entry_of_any_type() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(dir.path().join("a/.git"), "gitdir: elsewhere").unwrap();
        let workspace = Workspace::open(Some(&deep)).unwrap();
        assert_eq!(
            workspace.repository_root,
            Some(dir.path().canonicalize().unwrap().join("a"))
        );
        assert!(!workspace.is_initialised);
    }
}
