//! Reading files that others may have written: regular files only, never
//! waiting, never more than a bound, never outside their directory.

use crate::RegistryError;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Bytes that a configuration file may have.
pub(crate) const MAX_CONFIG: u64 = 1 << 20;

/// The bytes of `name` below `dir`, which lies at `root`; `None` when there is none.
pub(crate) fn read(
    dir: &Dir,
    root: &Path,
    name: &Path,
    most: u64,
) -> Result<Option<Vec<u8>>, RegistryError> {
    let failed = |why: String| RegistryError::File {
        path: root.join(name),
        why,
    };
    let mut options = OpenOptions::new();
    // A pipe of that name must not hold us up.
    options
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = match dir.open_with(name, &options) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    let metadata = file.metadata().map_err(|e| failed(e.to_string()))?;
    if !metadata.is_file() {
        return Err(failed("it is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| failed(e.to_string()))?;
    if bytes.len() as u64 > most {
        return Err(failed(format!("it is larger than {most} bytes")));
    }
    Ok(Some(bytes))
}

/// The text of `name` below `dir`.
pub(crate) fn read_text(
    dir: &Dir,
    root: &Path,
    name: &str,
) -> Result<Option<String>, RegistryError> {
    let Some(bytes) = read(dir, root, Path::new(name), MAX_CONFIG)? else {
        return Ok(None);
    };
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| RegistryError::Invalid {
            path: root.join(name),
            why: "it is not UTF-8".to_owned(),
        })
}

/// Replaces the file at `path` as a whole or not at all.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), RegistryError> {
    use std::io::Write;
    let failed = |why: std::io::Error| RegistryError::File {
        path: path.to_owned(),
        why: why.to_string(),
    };
    let parent = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(parent).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}
