//! A workspace for tests.

use sectile_paths::Path;
use std::fs;

pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (name, content) in files {
            let path = tree.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        tree
    }

    pub(crate) fn root(&self) -> &std::path::Path {
        self.0.path()
    }

    /// The path `shown` in it, as the tools have it.
    pub(crate) fn path(&self, shown: &str) -> Path {
        let root = self.root().to_str().unwrap().to_owned();
        Path {
            guest: format!("{root}/{shown}"),
            root,
            shown: shown.to_owned(),
        }
    }
}
