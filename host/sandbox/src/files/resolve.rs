//! The walk from a directory to the object a guest's path names.

use super::OpenDir;
use super::errors::FileError;
use super::mount::{device, is_kernel_file_system};
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt};
use std::collections::VecDeque;
use std::sync::Arc;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// Links in one path; the kernel's own number.
const MAX_LINKS: u32 = 40;
/// Bytes of one path, links expanded.
const MAX_PATH: usize = 4096;
/// Names in one path, links expanded.
const MAX_NAMES: usize = 256;

/// Where a path leads: a name in an open directory, or the directory the walk
/// started from or came back to.
#[derive(Debug)]
pub(super) struct Place {
    /// The directory, with its true path in the mount.
    pub(super) parent: OpenDir,
    /// The last name; `None` when the path leads to `parent` itself.
    pub(super) name: Option<String>,
    /// The path was written with a trailing slash or dot.
    pub(super) must_be_dir: bool,
}

impl Place {
    /// True path of the object in its mount.
    pub(super) fn path(&self) -> Vec<String> {
        let mut path = self.parent.path.clone();
        path.extend(self.name.clone());
        path
    }

    /// Metadata of the object itself, links not followed.
    pub(super) fn metadata(&self) -> Result<Metadata, FileError> {
        Ok(match &self.name {
            Some(name) => self.parent.dir.symlink_metadata(name)?,
            None => self.parent.dir.dir_metadata()?,
        })
    }
}

struct Walk {
    stack: Vec<OpenDir>,
    queue: VecDeque<String>,
    links: u32,
    must_be_dir: bool,
}

/// Walks `path` from `base`. A link in the last place is followed when
/// `follow` says so or the path asks for a directory. Nothing outside `base`
/// is ever opened, whatever links and `..` say (attacks F1 to F5, F9).
pub(super) fn resolve(base: &OpenDir, path: &str, follow: bool) -> Result<Place, FileError> {
    let mut walk = Walk {
        stack: vec![base.clone()],
        queue: VecDeque::new(),
        links: 0,
        must_be_dir: false,
    };
    walk.enqueue(path)?;
    while let Some(name) = walk.queue.pop_front() {
        match name.as_str() {
            "." => {}
            ".." => {
                walk.stack.pop();
                if walk.stack.is_empty() {
                    return Err(walk.outside(base));
                }
            }
            _ if walk.queue.is_empty() && !(follow || walk.must_be_dir) => {
                return walk.at(base, name);
            }
            _ if walk.queue.is_empty() => match walk.link_target(base, &name)? {
                Some(target) => walk.follow(base, &target)?,
                None => return walk.at(base, name),
            },
            _ => walk.enter(base, name)?,
        }
    }
    let top = walk.stack.pop().ok_or(ErrorCode::NotPermitted)?;
    Ok(Place {
        parent: top,
        name: None,
        must_be_dir: walk.must_be_dir,
    })
}

impl Walk {
    /// Puts the names of `path` before what is left to walk.
    fn enqueue(&mut self, path: &str) -> Result<(), FileError> {
        if path.is_empty() {
            return Err(ErrorCode::NoEntry.into());
        }
        if path.contains('\0') {
            return Err(ErrorCode::Invalid.into());
        }
        if path.starts_with('/') {
            return Err(ErrorCode::NotPermitted.into());
        }
        let names: Vec<_> = path.split('/').filter(|n| !n.is_empty()).collect();
        if path.len() > MAX_PATH || names.len() + self.queue.len() > MAX_NAMES {
            return Err(ErrorCode::NameTooLong.into());
        }
        if self.queue.is_empty()
            && (path.ends_with('/') || names.last().is_some_and(|n| *n == "." || *n == ".."))
        {
            self.must_be_dir = true;
        }
        for name in names.into_iter().rev() {
            self.queue.push_front(name.to_owned());
        }
        Ok(())
    }

    fn top<'a>(&'a self, base: &'a OpenDir) -> &'a OpenDir {
        self.stack.last().unwrap_or(base)
    }

    fn at(mut self, base: &OpenDir, name: String) -> Result<Place, FileError> {
        Ok(Place {
            parent: self.stack.pop().unwrap_or_else(|| base.clone()),
            name: Some(name),
            must_be_dir: self.must_be_dir,
        })
    }

    /// Goes into the directory `name`, or along the link of that name.
    fn enter(&mut self, base: &OpenDir, name: String) -> Result<(), FileError> {
        let top = self.top(base);
        match top.dir.open_dir_nofollow(&name) {
            Ok(dir) => {
                let next = top.child(dir, name)?;
                self.stack.push(next);
                Ok(())
            }
            Err(error) => match self.link_target(base, &name)? {
                Some(target) => self.follow(base, &target),
                None => Err(error.into()),
            },
        }
    }

    fn link_target(&self, base: &OpenDir, name: &str) -> Result<Option<String>, FileError> {
        let dir = &self.top(base).dir;
        match dir.symlink_metadata(name) {
            Ok(metadata) if metadata.file_type().is_symlink() => {}
            // What is missing may be about to be created.
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let target = dir.read_link_contents(name)?;
        let target = target.into_os_string().into_string();
        target
            .map(Some)
            .map_err(|_| ErrorCode::IllegalByteSequence.into())
    }

    fn follow(&mut self, base: &OpenDir, target: &str) -> Result<(), FileError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(ErrorCode::Loop.into());
        }
        if target.starts_with('/') {
            return Err(self.outside(base));
        }
        self.enqueue(target)
    }

    fn outside(&self, base: &OpenDir) -> FileError {
        FileError::Denied {
            path: self.top(base).path.clone(),
            why: "the path leads out of the granted directory",
        }
    }
}

impl OpenDir {
    /// The directory `dir`, opened from this one by `name`.
    fn child(&self, dir: Dir, name: String) -> Result<Self, FileError> {
        let mut path = self.path.clone();
        path.push(name);
        self.mount
            .refuse_kernel_file_system(&dir, &dir.dir_metadata()?, &path)?;
        Ok(Self {
            dir: Arc::new(dir),
            mount: Arc::clone(&self.mount),
            path,
            mutate: self.mutate,
        })
    }

    /// Opens the directory that `place` names, under the policy.
    pub(super) fn at(place: &Place) -> Result<Self, FileError> {
        let opened = match &place.name {
            None => place.parent.clone(),
            Some(name) => {
                let dir = place.parent.dir.open_dir_nofollow(name)?;
                place.parent.child(dir, name.clone())?
            }
        };
        let rules = &opened.mount.rules;
        rules
            .directory(&opened.path)
            .map_err(|why| FileError::denied(&opened.path, why))?;
        Ok(opened)
    }
}

/// Opens the regular file that `place` names. The type is looked at before, in
/// what was `found` there, since opening a device can have effects, and again on
/// the open object.
pub(super) fn open_file(
    place: &Place,
    found: Option<&Metadata>,
    options: &mut OpenOptions,
) -> Result<File, FileError> {
    let path = place.path();
    let Some(name) = &place.name else {
        return Err(ErrorCode::IsDirectory.into());
    };
    if let Some(found) = found {
        regular(found, &path)?;
    }
    options.follow(FollowSymlinks::No);
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = place.parent.dir.open_with(name, options)?;
    let metadata = file.metadata()?;
    regular(&metadata, &path)?;
    place
        .parent
        .mount
        .refuse_kernel_file_system(&file, &metadata, &path)?;
    Ok(file)
}

fn regular(metadata: &Metadata, path: &[String]) -> Result<(), FileError> {
    let kind = metadata.file_type();
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(ErrorCode::IsDirectory.into())
    } else if kind.is_symlink() {
        Err(ErrorCode::Loop.into())
    } else {
        Err(FileError::Denied {
            path: path.to_vec(),
            why: "it is neither a regular file nor a directory",
        })
    }
}

impl super::Mount {
    /// Refuses what lies on proc and the like, mounted below the grant (F13).
    fn refuse_kernel_file_system(
        &self,
        object: &impl std::os::fd::AsFd,
        metadata: &Metadata,
        path: &[String],
    ) -> Result<(), FileError> {
        if device(metadata) == self.device || !is_kernel_file_system(object) {
            return Ok(());
        }
        Err(FileError::Denied {
            path: path.to_vec(),
            why: "it lies on a kernel file system",
        })
    }
}
