//! Compiled artifacts on disk, authenticated before they are loaded (PL-13).
//!
//! An artifact is native code: whoever can write one can run anything. So an
//! entry counts only when it lies in a directory of this user alone and carries
//! a keyed hash, under a key of this installation, over its name and its bytes.
//! Anything else is treated as absent, said to the operator, and compiled anew.

use crate::error::SandboxError;
use sectile_model::Digest;
use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use wasmtime::Engine;

const KEY_BYTES: usize = 32;
const MAC_BYTES: usize = 32;
/// Entries kept; the oldest goes when there are more.
const MAX_ENTRIES: usize = 256;

/// The artifacts of one installation.
#[derive(Debug)]
pub(crate) struct ArtifactCache {
    dir: PathBuf,
    key: [u8; KEY_BYTES],
}

/// What the cache knows of a component.
pub(crate) enum Lookup {
    Hit(Vec<u8>),
    Miss,
    /// There is an entry, and it is not one that this installation wrote.
    Rejected,
}

impl ArtifactCache {
    /// Opens or makes the directory `dir` and the key in `key_file`, both for
    /// this user alone.
    pub(crate) fn open(dir: &Path, key_file: &Path) -> Result<Self, SandboxError> {
        let failed = |e: io::Error| SandboxError::host("open its artifact cache", e);
        private_dir(dir).map_err(failed)?;
        if let Some(parent) = key_file.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        Ok(Self {
            dir: dir.to_owned(),
            key: installation_key(key_file).map_err(failed)?,
        })
    }

    pub(crate) fn get(&self, engine: &Engine, component: &Digest) -> Lookup {
        let name = entry_name(engine, component);
        match read_private(&self.dir.join(&name)) {
            Ok(entry) => match self.authentic(&name, &entry) {
                Some(artifact) => Lookup::Hit(artifact.to_vec()),
                None => Lookup::Rejected,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Lookup::Miss,
            Err(_) => Lookup::Rejected,
        }
    }

    pub(crate) fn put(
        &self,
        engine: &Engine,
        component: &Digest,
        artifact: &[u8],
    ) -> io::Result<()> {
        let name = entry_name(engine, component);
        let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
        file.write_all(self.mac(&name, artifact).as_bytes())?;
        file.write_all(artifact)?;
        file.persist(self.dir.join(name))?;
        self.drop_oldest()
    }

    fn authentic<'a>(&self, name: &str, entry: &'a [u8]) -> Option<&'a [u8]> {
        let (mac, artifact) = entry.split_first_chunk::<MAC_BYTES>()?;
        // Comparing two hashes takes the same time whatever they are.
        (blake3::Hash::from_bytes(*mac) == self.mac(name, artifact)).then_some(artifact)
    }

    fn mac(&self, name: &str, artifact: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(name.as_bytes()).update(artifact);
        hasher.finalize()
    }

    fn drop_oldest(&self) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            entries.push((entry.metadata()?.modified()?, entry.path()));
        }
        entries.sort();
        let surplus = entries.len().saturating_sub(MAX_ENTRIES);
        for (_, path) in entries.into_iter().take(surplus) {
            // Another process may have dropped it first.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }
}

/// Component digest and engine settings in one name of fixed length.
fn entry_name(engine: &Engine, component: &Digest) -> String {
    struct IntoBlake3<'a>(&'a mut blake3::Hasher);
    impl Hasher for IntoBlake3<'_> {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
        fn finish(&self) -> u64 {
            0
        }
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(component.to_string().as_bytes());
    engine
        .precompile_compatibility_hash()
        .hash(&mut IntoBlake3(&mut hasher));
    hasher.finalize().to_hex().to_string()
}

fn installation_key(path: &Path) -> io::Result<[u8; KEY_BYTES]> {
    if let Ok(key) = read_private(path)
        && let Ok(key) = key.try_into()
    {
        return Ok(key);
    }
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let parent = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    file.write_all(&key)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(key)
}

#[cfg(unix)]
fn private_dir(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)?;
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() || !is_ours(&metadata) {
        return Err(io::Error::other(format!(
            "{} is not a directory of this user",
            path.display()
        )));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// The bytes of a regular file that belongs to this user and that nobody else can change.
#[cfg(unix)]
fn read_private(path: &Path) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    let no_surprises = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut file: File = OpenOptions::new()
        .read(true)
        .custom_flags(no_surprises.bits().cast_signed())
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || !is_ours(&metadata) || metadata.mode() & 0o022 != 0 {
        return Err(io::Error::other("not a private file of this user"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(unix)]
fn is_ours(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw()
}
