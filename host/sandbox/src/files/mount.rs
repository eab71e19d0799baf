//! One granted directory, opened by the host.

use super::policy::{Access, PathRules};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A granted directory: open on the host, named for the guest.
#[derive(Debug)]
pub struct Mount {
    pub(super) dir: Arc<Dir>,
    pub(super) device: u64,
    pub(super) rules: PathRules,
    source: String,
    guest_path: String,
    host_path: PathBuf,
}

/// A directory that could not be granted.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// There is no such directory.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// It is there and cannot be opened.
    #[error("{} cannot be opened: {why}", path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// The reason.
        why: std::io::Error,
    },
    /// Its file system is one of the kernel's own (attack F13).
    #[error("{} lies on a kernel file system and is never granted", .0.display())]
    KernelFileSystem(PathBuf),
}

impl Mount {
    /// Opens `host_path` to be seen by a guest at `guest_path`, an absolute
    /// path such as `/workspace`. `source` is the manifest's name for it.
    ///
    /// # Errors
    /// [`MountError`] when the directory is missing, unreadable or not to be granted.
    pub fn open(
        source: impl Into<String>,
        guest_path: impl Into<String>,
        host_path: &Path,
        rules: PathRules,
    ) -> Result<Self, MountError> {
        let unreadable = |why: std::io::Error| match why.kind() {
            std::io::ErrorKind::NotFound => MountError::Missing(host_path.to_owned()),
            _ => MountError::Unreadable {
                path: host_path.to_owned(),
                why,
            },
        };
        let dir = Dir::open_ambient_dir(host_path, ambient_authority()).map_err(unreadable)?;
        Self::from_dir(source, guest_path, host_path, dir, rules)
    }

    /// The same for a directory that is open already.
    ///
    /// # Errors
    /// [`MountError`] when the directory is unreadable or not to be granted.
    pub fn from_dir(
        source: impl Into<String>,
        guest_path: impl Into<String>,
        host_path: &Path,
        dir: Dir,
        rules: PathRules,
    ) -> Result<Self, MountError> {
        if is_kernel_file_system(&dir) {
            return Err(MountError::KernelFileSystem(host_path.to_owned()));
        }
        let metadata = dir.dir_metadata().map_err(|why| MountError::Unreadable {
            path: host_path.to_owned(),
            why,
        })?;
        Ok(Self {
            device: device(&metadata),
            dir: Arc::new(dir),
            rules,
            source: source.into(),
            guest_path: guest_path.into(),
            host_path: host_path.to_owned(),
        })
    }

    /// The manifest's name for it: `workspace`, `repository`, `skills` …
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Where the guest sees it.
    #[must_use]
    pub fn guest_path(&self) -> &str {
        &self.guest_path
    }

    /// Where it lies on the host; told to the guest as text only.
    #[must_use]
    pub fn host_path(&self) -> &Path {
        &self.host_path
    }

    /// What it may be used for.
    #[must_use]
    pub fn access(&self) -> Access {
        self.rules.access()
    }
}

pub(super) fn device(metadata: &cap_std::fs::Metadata) -> u64 {
    use cap_std::fs::MetadataExt;
    metadata.dev()
}

/// Whether an open object lies on proc, sysfs and the like, where reading has
/// side effects or shows other processes.
#[cfg(target_os = "linux")]
pub(super) fn is_kernel_file_system(object: &impl std::os::fd::AsFd) -> bool {
    // f_type of proc, sysfs, devpts, debugfs, tracefs, securityfs, cgroup, cgroup2, configfs, bpf, pstore, efivarfs.
    const KERNEL: [u32; 12] = [
        0x9fa0,
        0x6265_6572,
        0x1cd1,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0x0027_e0eb,
        0x6367_7270,
        0x6265_6570,
        0xcafe_4a11,
        0x6165_676c,
        0xde5e_81e4,
    ];
    // The type of `f_type` differs between targets; its low 32 bits are the number.
    rustix::fs::fstatfs(object).is_ok_and(|stat| {
        KERNEL
            .iter()
            .any(|magic| i128::from(stat.f_type) & 0xffff_ffff == i128::from(*magic))
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_kernel_file_system(_: &impl std::os::fd::AsFd) -> bool {
    false
}
