//! What a guest does with a path below an open directory.

use super::errors::FileError;
use super::policy::Denied;
use super::resolve::{Place, open_file, resolve};
use super::{Access, Node, OpenDir, OpenFile};
use crate::state::CallState;
use cap_std::fs::{Metadata, OpenOptions};
use std::sync::Arc;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Descriptor, DescriptorFlags, OpenFlags, PathFlags,
};

type Fd = Resource<Descriptor>;

fn follows(flags: PathFlags) -> bool {
    flags.contains(PathFlags::SYMLINK_FOLLOW)
}

fn denied(place: &Place) -> impl FnOnce(Denied) -> FileError + '_ {
    |why| FileError::denied(&place.path(), why)
}

/// The last name of a place that is to be created, renamed or removed.
fn name_of(place: &Place) -> Result<&str, FileError> {
    place
        .name
        .as_deref()
        .ok_or_else(|| ErrorCode::Invalid.into())
}

/// Refuses a change through a directory that was opened without the right to it.
fn mutable(dir: &OpenDir) -> Result<(), FileError> {
    match dir.mutate {
        true => Ok(()),
        false => Err(FileError::denied(&dir.path, Denied::ReadOnly)),
    }
}

impl CallState {
    fn place(&self, fd: &Fd, path: &str, follow: bool) -> Result<Place, FileError> {
        resolve(&self.directory(fd)?, path, follow)
    }

    /// A place whose object the guest wants to change.
    fn place_to_change(&self, fd: &Fd, path: &str) -> Result<Place, FileError> {
        let dir = self.directory(fd)?;
        mutable(&dir)?;
        resolve(&dir, path, false)
    }

    pub(super) fn open(
        &mut self,
        fd: &Fd,
        path_flags: PathFlags,
        path: &str,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Node, FileError> {
        let base = self.directory(fd)?;
        let changes = flags.intersects(DescriptorFlags::WRITE | DescriptorFlags::MUTATE_DIRECTORY)
            || how.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE | OpenFlags::EXCLUSIVE);
        if changes {
            mutable(&base)?;
        }
        let place = resolve(&base, path, follows(path_flags))?;
        let wants_dir = place.must_be_dir || how.contains(OpenFlags::DIRECTORY);
        let found = match place.metadata() {
            Ok(metadata) => Some(metadata),
            Err(FileError::Io(error))
                if error.kind() == std::io::ErrorKind::NotFound && !wants_dir =>
            {
                None
            }
            Err(error) => return Err(error),
        };
        match (found.as_ref().is_some_and(Metadata::is_dir), wants_dir) {
            (true, _) => self.open_as_dir(&place, how, flags),
            (false, true) => Err(ErrorCode::NotDirectory.into()),
            (false, false) => self.open_as_file(&place, found.as_ref(), how, flags),
        }
    }

    fn open_as_dir(
        &mut self,
        place: &Place,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Node, FileError> {
        if how.intersects(OpenFlags::TRUNCATE | OpenFlags::CREATE)
            || flags.contains(DescriptorFlags::WRITE)
        {
            return Err(ErrorCode::IsDirectory.into());
        }
        let mut dir = OpenDir::at(place)?;
        dir.mutate = flags.contains(DescriptorFlags::MUTATE_DIRECTORY);
        Ok(Node::Dir(dir))
    }

    fn open_as_file(
        &mut self,
        place: &Place,
        found: Option<&Metadata>,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Node, FileError> {
        let path = place.path();
        let mount = &place.parent.mount;
        let write = flags.contains(DescriptorFlags::WRITE);
        let read = flags.contains(DescriptorFlags::READ) || !write;
        let changes = write || how.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE);
        let verdict = match changes {
            true => mount.rules.write(&path),
            false => mount.rules.read(&path),
        };
        verdict.map_err(denied(place))?;
        let mut options = OpenOptions::new();
        // Creating and truncating need a descriptor open for writing; the
        // guest's own right to write stays what it asked for.
        options.read(read).write(changes);
        match (
            how.contains(OpenFlags::CREATE),
            how.contains(OpenFlags::EXCLUSIVE),
        ) {
            (true, true) => options.create_new(true),
            (create, _) => options.create(create),
        };
        options.truncate(how.contains(OpenFlags::TRUNCATE));
        let file = open_file(place, found, &mut options)?;
        let access = if changes {
            Access::ReadWrite
        } else {
            Access::Read
        };
        self.usage.used(mount, &path, access);
        Ok(Node::File(OpenFile {
            file: Arc::new(file),
            read,
            write,
        }))
    }

    pub(super) fn metadata_at(
        &mut self,
        fd: &Fd,
        flags: PathFlags,
        path: &str,
    ) -> Result<Metadata, FileError> {
        let place = self.place(fd, path, follows(flags))?;
        let metadata = place.metadata()?;
        if place.must_be_dir && !metadata.is_dir() {
            return Err(ErrorCode::NotDirectory.into());
        }
        Ok(metadata)
    }

    pub(super) fn read_link(&mut self, fd: &Fd, path: &str) -> Result<String, FileError> {
        let place = self.place(fd, path, false)?;
        let name = name_of(&place)?;
        let target = place.parent.dir.read_link_contents(name)?;
        if target.is_absolute() {
            // It would tell the guest how the host's directories are laid out.
            return Err(FileError::Denied {
                path: place.path(),
                why: "the link points to an absolute path",
            });
        }
        target
            .into_os_string()
            .into_string()
            .map_err(|_| ErrorCode::IllegalByteSequence.into())
    }

    pub(super) fn make_directory(&mut self, fd: &Fd, path: &str) -> Result<(), FileError> {
        let place = self.place_to_change(fd, path)?;
        let rules = &place.parent.mount.rules;
        rules
            .write_directory(&place.path())
            .map_err(denied(&place))?;
        place.parent.dir.create_dir(name_of(&place)?)?;
        self.usage
            .used(&place.parent.mount, &place.path(), Access::ReadWrite);
        Ok(())
    }

    pub(super) fn remove_directory(&mut self, fd: &Fd, path: &str) -> Result<(), FileError> {
        let place = self.place_to_change(fd, path)?;
        let rules = &place.parent.mount.rules;
        rules
            .write_directory(&place.path())
            .map_err(denied(&place))?;
        place.parent.dir.remove_dir(name_of(&place)?)?;
        self.usage
            .used(&place.parent.mount, &place.path(), Access::ReadWrite);
        Ok(())
    }

    pub(super) fn unlink(&mut self, fd: &Fd, path: &str) -> Result<(), FileError> {
        let place = self.place_to_change(fd, path)?;
        if place.must_be_dir {
            return Err(ErrorCode::IsDirectory.into());
        }
        place
            .parent
            .mount
            .rules
            .write(&place.path())
            .map_err(denied(&place))?;
        place.parent.dir.remove_file(name_of(&place)?)?;
        self.usage
            .used(&place.parent.mount, &place.path(), Access::ReadWrite);
        Ok(())
    }

    /// Renames a file inside one mount. Both names are judged, so a denied
    /// file cannot get an allowed name. A directory keeps its name where only
    /// some paths are allowed: what lies below it would get new ones unjudged.
    pub(super) fn rename(
        &mut self,
        fd: &Fd,
        old: &str,
        new_fd: &Fd,
        new: &str,
    ) -> Result<(), FileError> {
        let (from, to) = self.two_places(fd, old, new_fd, new)?;
        let rules = &from.parent.mount.rules;
        if from.metadata()?.is_dir() {
            if rules.is_selective() {
                return Err(FileError::denied(&from.path(), Denied::NotAllowed));
            }
            rules.write_directory(&from.path()).map_err(denied(&from))?;
            rules.write_directory(&to.path()).map_err(denied(&to))?;
        } else {
            rules.write(&from.path()).map_err(denied(&from))?;
            rules.write(&to.path()).map_err(denied(&to))?;
            keep_permissions(&from, &to)?;
        }
        from.parent
            .dir
            .rename(name_of(&from)?, &to.parent.dir, name_of(&to)?)?;
        self.usage
            .used(&to.parent.mount, &to.path(), Access::ReadWrite);
        Ok(())
    }

    pub(super) fn hard_link(
        &mut self,
        fd: &Fd,
        flags: PathFlags,
        old: &str,
        new_fd: &Fd,
        new: &str,
    ) -> Result<(), FileError> {
        if follows(flags) {
            return Err(ErrorCode::Invalid.into());
        }
        let (from, to) = self.two_places(fd, old, new_fd, new)?;
        let rules = &from.parent.mount.rules;
        rules.write(&from.path()).map_err(denied(&from))?;
        rules.write(&to.path()).map_err(denied(&to))?;
        if !from.metadata()?.is_file() {
            return Err(ErrorCode::NotPermitted.into());
        }
        from.parent
            .dir
            .hard_link(name_of(&from)?, &to.parent.dir, name_of(&to)?)?;
        self.usage
            .used(&to.parent.mount, &to.path(), Access::ReadWrite);
        Ok(())
    }

    /// Two places of one mount, both through directories that may be changed:
    /// an object never moves between two grants (RUSTSEC-2026-0188).
    fn two_places(
        &self,
        fd: &Fd,
        old: &str,
        new_fd: &Fd,
        new: &str,
    ) -> Result<(Place, Place), FileError> {
        let from = self.place_to_change(fd, old)?;
        let to = self.place_to_change(new_fd, new)?;
        if !Arc::ptr_eq(&from.parent.mount, &to.parent.mount) {
            return Err(ErrorCode::CrossDevice.into());
        }
        if (from.must_be_dir || to.must_be_dir) && !from.metadata()?.is_dir() {
            return Err(ErrorCode::NotDirectory.into());
        }
        Ok((from, to))
    }

    /// No guest makes a symbolic link: other programs would follow it where
    /// the guest may not go (attack F4).
    pub(super) fn refuse_symlink(&mut self, fd: &Fd, new: &str) -> Result<(), FileError> {
        let place = self.place_to_change(fd, new)?;
        Err(FileError::Denied {
            path: place.path(),
            why: "plugins do not make symbolic links",
        })
    }
}

/// A file that takes the place of another takes its permissions: guests cannot
/// see or set them, and a script that is edited stays executable.
fn keep_permissions(from: &Place, to: &Place) -> Result<(), FileError> {
    let Ok(replaced) = to.metadata() else {
        return Ok(());
    };
    if replaced.is_file() && from.metadata()?.is_file() {
        let dir = &from.parent.dir;
        dir.set_permissions(name_of(from)?, replaced.permissions())?;
    }
    Ok(())
}
