//! Files through `wasi:filesystem`.

use super::{Kind, Links, ReadError};
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
    let stat = file.stat().map_err(error)?;
    if kind(stat.type_) != Kind::File {
        return Err(ReadError::NotRegular);
    }
    if stat.size > limit as u64 {
        return Err(ReadError::TooLarge(Some(stat.size)));
    }
    let bytes = read_up_to(&file, limit)?;
    // It may have grown while it was read.
    if bytes.len() > limit {
        Err(ReadError::TooLarge(None))
    } else {
        Ok(bytes)
    }
}

/// One byte more than `limit` at the most: enough to see that there are too many.
fn read_up_to(file: &Descriptor, limit: usize) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    while bytes.len() <= limit {
        let wanted = CHUNK.min(limit + 1 - bytes.len());
        let (chunk, end) = file
            .read(wanted as u64, bytes.len() as u64)
            .map_err(error)?;
        bytes.extend_from_slice(&chunk);
        if end || chunk.is_empty() {
            break;
        }
    }
    Ok(bytes)
}

pub(super) fn list(path: &str, each: &mut dyn FnMut(String, Kind)) -> Result<(), ReadError> {
    let (root, rest) = granted(path)?;
    let dir = root
        .open_at(
            PathFlags::SYMLINK_FOLLOW,
            &rest,
            OpenFlags::DIRECTORY,
            DescriptorFlags::READ,
        )
        .map_err(error)?;
    let entries = dir.read_directory().map_err(error)?;
    while let Some(entry) = entries.read_directory_entry().map_err(error)? {
        each(entry.name, kind(entry.type_));
    }
    Ok(())
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
        other => ReadError::Other(other.message().to_owned()),
    }
}
