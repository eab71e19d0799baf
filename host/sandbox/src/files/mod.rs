//! Directories that were granted, and nothing else (PL-14, PL-15).
//!
//! Every path of a guest is walked here, one name at a time, from an open
//! directory to an open object, never following a link that the walk has not
//! read itself. The walk knows the true path of what it opened, the policy
//! judges that path, and the opened object is the one that is used: there is
//! no moment between check and use.

mod descriptor;
mod descriptor_at;
mod errors;
mod mount;
mod policy;
mod resolve;
mod stream;

pub use mount::{Mount, MountError};
pub use policy::{Access, DenyList, PathRules, PatternError};

pub(crate) use stream::{FileReader, FileWriter};

use cap_std::fs::{Dir, File};
use std::sync::Arc;

/// What stands behind a guest's descriptor.
#[derive(Debug)]
pub(crate) enum Node {
    File(OpenFile),
    Dir(OpenDir),
}

/// A regular file that the policy let the guest open.
#[derive(Debug)]
pub(crate) struct OpenFile {
    file: Arc<File>,
    read: bool,
    write: bool,
}

/// A directory inside a mount, with its true path in it.
#[derive(Debug, Clone)]
pub(crate) struct OpenDir {
    dir: Arc<Dir>,
    mount: Arc<Mount>,
    path: Vec<String>,
    /// The guest asked for the right to change it, and the mount allows it.
    mutate: bool,
}
