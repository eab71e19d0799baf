//! The directory of the store in a workspace: ours alone, and no way out of it.

use crate::error::StoreError;
use crate::sqlite::failure::io_error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const DIRECTORY: &str = ".sectile";
const FILE: &str = "sectile.db";
/// What SQLite puts beside its file.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Where a store is. A workspace may come with links in it, which could have us
/// write elsewhere: nothing of ours is one.
#[derive(Debug, Clone)]
pub(super) struct Place {
    directory: PathBuf,
    file: PathBuf,
}

impl Place {
    /// The place in `workspace`, which is there. Nothing is made.
    pub(super) fn of(workspace: &Path) -> Result<Self, StoreError> {
        // What leads to the workspace is the operator's; SQLite takes no link.
        let workspace = workspace
            .canonicalize()
            .map_err(|e| io_error(workspace, &e))?;
        let directory = workspace.join(DIRECTORY);
        Ok(Self {
            file: directory.join(FILE),
            directory,
        })
    }

    /// The database.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the database is there.
    pub(super) fn exists(&self) -> Result<bool, StoreError> {
        match self.file.symlink_metadata() {
            Ok(_) => Ok(true),
            // What stands in the directory's place is told when it is used.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(io_error(&self.file, &error)),
        }
    }

    /// Whether changes lie beside the database that are not yet in it.
    pub(super) fn has_changes_beside(&self) -> bool {
        fs::metadata(self.beside("-wal")).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// Makes the directory for this user alone, ignored by git.
    pub(super) fn prepare(&self) -> Result<(), StoreError> {
        make(&self.directory)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Another user's directory stays as it is.
            let _ = fs::set_permissions(&self.directory, fs::Permissions::from_mode(0o700));
        }
        let ignore = self.directory.join(".gitignore");
        match fs::File::create_new(&ignore).and_then(|mut file| file.write_all(b"*\n")) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(io_error(&ignore, &error))
            }
            _ => Ok(()),
        }
    }

    /// The directory of the locks; made when it is not there.
    pub(super) fn locks(&self) -> Result<PathBuf, StoreError> {
        let locks = self.directory.join("locks");
        make(&locks)?;
        Ok(locks)
    }

    /// Refuses everything but plain files in a plain directory.
    pub(super) fn refuse_links(&self) -> Result<(), StoreError> {
        plain_directory(&self.directory)?;
        let beside = BESIDE.map(|suffix| self.beside(suffix));
        for file in beside.iter().chain([&self.file]) {
            match file.symlink_metadata() {
                Ok(metadata) if !metadata.is_file() => return Err(odd(file, "it is not a file")),
                _ => {}
            }
        }
        Ok(())
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        self.directory.join(format!("{FILE}{suffix}"))
    }
}

fn make(directory: &Path) -> Result<(), StoreError> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(io_error(directory, &error))
        }
        _ => plain_directory(directory),
    }
}

fn plain_directory(directory: &Path) -> Result<(), StoreError> {
    let metadata = directory
        .symlink_metadata()
        .map_err(|e| io_error(directory, &e))?;
    match metadata.is_dir() {
        true => Ok(()),
        false => Err(odd(directory, "it is not a directory")),
    }
}

fn odd(path: &Path, why: &str) -> StoreError {
    StoreError::Foreign {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}
