//! Files through `wasi:filesystem`.

use super::{Kind, Links, ReadError};
use std::time::Duration;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags,
};

/// Bytes asked for at once.
const CHUNK: usize = 64 << 10;

pub(super) fn read(path: &str, links: Links, limit: usize) -> Result<Vec<u8>, ReadError> {
    let (root, rest) = granted(path)?;
    let flags = match links {
        Links::Refuse => PathFlags::empty(),
        Links::Follow => PathFlags::SYMLINK_FOLLOW,
    };
    let file = root
        .open_at(flags, &rest, OpenFlags::empty(), DescriptorFlags::READ)
        .map_err(|code| explain(code, &root, &rest, flags))?;
    contents(&file, limit)
}

/// The bytes of `file`; what is small takes one call into the host.
fn contents(file: &Descriptor, limit: usize) -> Result<Vec<u8>, ReadError> {
    // One byte more than the limit is enough to see that there are too many.
    let wanted = |have: usize| CHUNK.min(limit + 1 - have) as u64;
    let (mut bytes, mut end) = file.read(wanted(0), 0).map_err(error)?;
    if !end && bytes.len() as u64 == wanted(0) {
        let size = file.stat().map_err(error)?.size;
        if size > limit as u64 {
            return Err(ReadError::TooLarge(Some(size)));
        }
    }
    while !end && bytes.len() <= limit {
        let (chunk, last) = file
            .read(wanted(bytes.len()), bytes.len() as u64)
            .map_err(error)?;
        end = last || chunk.is_empty();
        bytes.extend_from_slice(&chunk);
    }
    // It may have grown while it was read.
    match bytes.len() > limit {
        true => Err(ReadError::TooLarge(None)),
        false => Ok(bytes),
    }
}

pub(super) struct Dir(Descriptor);

impl Dir {
    pub(super) fn open(path: &str) -> Result<Self, ReadError> {
        let (root, rest) = granted(path)?;
        open_dir(&root, PathFlags::SYMLINK_FOLLOW, &rest)
    }

    pub(super) fn dir(&self, name: &str) -> Result<Self, ReadError> {
        open_dir(&self.0, PathFlags::empty(), name)
    }

    pub(super) fn list(&self, each: &mut dyn FnMut(String, Kind)) -> Result<(), ReadError> {
        let entries = self.0.read_directory().map_err(error)?;
        while let Some(entry) = entries.read_directory_entry().map_err(error)? {
            each(entry.name, kind(entry.type_));
        }
        Ok(())
    }

    pub(super) fn read(&self, name: &str, limit: usize) -> Result<Vec<u8>, ReadError> {
        let flags = PathFlags::empty();
        let file = self
            .0
            .open_at(flags, name, OpenFlags::empty(), DescriptorFlags::READ)
            .map_err(|code| explain(code, &self.0, name, flags))?;
        contents(&file, limit)
    }

    pub(super) fn changed(&self, name: &str) -> Option<Duration> {
        let stat = self.0.stat_at(PathFlags::empty(), name).ok()?;
        let at = stat.data_modification_timestamp?;
        Some(Duration::new(at.seconds, at.nanoseconds))
    }
}

fn open_dir(from: &Descriptor, links: PathFlags, path: &str) -> Result<Dir, ReadError> {
    from.open_at(links, path, OpenFlags::DIRECTORY, DescriptorFlags::READ)
        .map(Dir)
        .map_err(error)
}

/// The granted directory with the longest guest path that `path` begins with,
/// and the rest of the path.
fn granted(path: &str) -> Result<(Descriptor, String), ReadError> {
    let below = |root: &str| {
        let rest = path.strip_prefix(root)?;
        match rest.strip_prefix('/') {
            Some(rest) if !rest.is_empty() => Some(rest.to_owned()),
            None if !rest.is_empty() => None,
            _ => Some(".".to_owned()),
        }
    };
    let roots = get_directories().into_iter();
    roots
        .filter_map(|(dir, root)| Some((root.len(), dir, below(&root)?)))
        .max_by_key(|(len, ..)| *len)
        .map(|(_, dir, rest)| (dir, rest))
        .ok_or(ReadError::Denied)
}

/// Puts a refusal into words. The object is looked at once more only for
/// these: nothing is decided here.
fn explain(code: ErrorCode, root: &Descriptor, path: &str, flags: PathFlags) -> ReadError {
    match code {
        ErrorCode::NoEntry => match root.stat_at(PathFlags::empty(), path) {
            Ok(_) => ReadError::Dangling,
            Err(_) => ReadError::Missing,
        },
        ErrorCode::Loop if flags.is_empty() => ReadError::Link,
        ErrorCode::NotPermitted => match root.stat_at(PathFlags::empty(), path) {
            Ok(stat) if kind(stat.type_) == Kind::Other => ReadError::NotRegular,
            Ok(stat) if kind(stat.type_) == Kind::Link => {
                match root.stat_at(PathFlags::SYMLINK_FOLLOW, path) {
                    Err(ErrorCode::NotPermitted) => ReadError::Outside,
                    Ok(stat) if kind(stat.type_) == Kind::Other => ReadError::NotRegular,
                    _ => ReadError::Denied,
                }
            }
            _ => ReadError::Denied,
        },
        other => error(other),
    }
}

fn kind(kind: DescriptorType) -> Kind {
    match kind {
        DescriptorType::RegularFile => Kind::File,
        DescriptorType::Directory => Kind::Directory,
        DescriptorType::SymbolicLink => Kind::Link,
        _ => Kind::Other,
    }
}

fn error(code: ErrorCode) -> ReadError {
    match code {
        ErrorCode::NoEntry => ReadError::Missing,
        ErrorCode::NotPermitted => ReadError::Denied,
        ErrorCode::IsDirectory => ReadError::NotRegular,
        ErrorCode::NotDirectory => ReadError::NotDirectory,
        other => ReadError::Other(other.message().to_owned()),
    }
}
