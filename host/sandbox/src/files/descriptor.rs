//! `wasi:filesystem`: preopens, and what a guest does with an open descriptor.

use super::errors::FileError;
use super::stream::{FileReader, FileWriter, WriteAt, read_at};
use super::{Access, Node, OpenDir, OpenFile};
use crate::meter::table_error;
use crate::state::CallState;
use crate::wasi::{InStream, OutStream};
use cap_std::fs::{FileType, Metadata};
use std::sync::Arc;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::{preopens, types::ErrorCode};
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    self, Datetime, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
    DirectoryEntryStream, NewTimestamp,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult, IoError};

/// Bytes that one `read` gives at the most.
const READ_CHUNK: u64 = 64 << 10;

/// The names of a directory, read as the guest asks for them.
struct Listing {
    entries: cap_std::fs::ReadDir,
}

impl preopens::Host for CallState {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mounts = self.mounts().to_vec();
        mounts
            .into_iter()
            .map(|mount| {
                let guest_path = mount.guest_path().to_owned();
                let root = OpenDir {
                    dir: Arc::clone(&mount.dir),
                    mutate: mount.access() == Access::ReadWrite,
                    path: Vec::new(),
                    mount,
                };
                Ok((self.push_as(Node::Dir(root))?, guest_path))
            })
            .collect()
    }
}

impl CallState {
    fn node(&self, fd: &Resource<Descriptor>) -> Result<&Node, FileError> {
        Ok(self
            .table
            .get(&Resource::new_borrow(fd.rep()))
            .map_err(table_error)?)
    }

    pub(super) fn directory(&self, fd: &Resource<Descriptor>) -> Result<OpenDir, FileError> {
        match self.node(fd)? {
            Node::Dir(dir) => Ok(dir.clone()),
            Node::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    fn file(&self, fd: &Resource<Descriptor>) -> Result<&OpenFile, FileError> {
        match self.node(fd)? {
            Node::File(file) => Ok(file),
            Node::Dir(_) => Err(ErrorCode::IsDirectory.into()),
        }
    }

    fn readable(&self, fd: &Resource<Descriptor>) -> Result<Arc<cap_std::fs::File>, FileError> {
        let file = self.file(fd)?;
        match file.read {
            true => Ok(Arc::clone(&file.file)),
            false => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    fn writable(&self, fd: &Resource<Descriptor>) -> Result<Arc<cap_std::fs::File>, FileError> {
        let file = self.file(fd)?;
        match file.write {
            true => Ok(Arc::clone(&file.file)),
            false => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    fn node_metadata(&self, fd: &Resource<Descriptor>) -> Result<Metadata, FileError> {
        Ok(match self.node(fd)? {
            Node::File(file) => file.file.metadata()?,
            Node::Dir(dir) => dir.dir.dir_metadata()?,
        })
    }

    pub(super) fn stat_of(&self, metadata: &Metadata) -> DescriptorStat {
        use cap_std::fs::MetadataExt;
        // Without a grant for the clock a guest sees no times: its output would
        // depend on more than the content of files. When a file was looked at
        // last is nobody's business.
        let clock = self.call.capabilities.clock;
        DescriptorStat {
            type_: kind_of(metadata.file_type()),
            link_count: metadata.nlink(),
            size: metadata.len(),
            data_access_timestamp: None,
            data_modification_timestamp: clock.then(|| changed(metadata)).flatten(),
            status_change_timestamp: None,
        }
    }

    /// The guest's answer; a refusal is also kept for the operator.
    pub(super) fn answer<T>(&mut self, result: Result<T, FileError>) -> FsResult<T> {
        result.map_err(|error| {
            if let FileError::Denied { path, why } = &error {
                self.usage.refuse(&path.join("/"), why);
            }
            FsError::from(error)
        })
    }
}

pub(super) fn kind_of(kind: FileType) -> DescriptorType {
    use cap_fs_ext::FileTypeExt;
    if kind.is_file() {
        DescriptorType::RegularFile
    } else if kind.is_dir() {
        DescriptorType::Directory
    } else if kind.is_symlink() {
        DescriptorType::SymbolicLink
    } else if kind.is_fifo() {
        DescriptorType::Fifo
    } else if kind.is_socket() {
        DescriptorType::Socket
    } else if kind.is_block_device() {
        DescriptorType::BlockDevice
    } else if kind.is_char_device() {
        DescriptorType::CharacterDevice
    } else {
        DescriptorType::Unknown
    }
}

fn changed(metadata: &Metadata) -> Option<Datetime> {
    let changed = metadata.modified().ok()?.into_std();
    let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Datetime {
        seconds: since.as_secs(),
        nanoseconds: since.subsec_nanos(),
    })
}

/// A number that tells two objects apart. The time of the last change is no
/// part of it: most guests may not know it.
pub(super) fn hash_of(metadata: &Metadata) -> types::MetadataHashValue {
    use cap_std::fs::MetadataExt;
    let mut hasher = blake3::Hasher::new();
    for part in [metadata.dev(), metadata.ino(), metadata.len()] {
        hasher.update(&part.to_le_bytes());
    }
    let mut out = [0; 16];
    hasher.finalize_xof().fill(&mut out);
    let both = u128::from_le_bytes(out);
    types::MetadataHashValue {
        lower: u64::try_from(both & u128::from(u64::MAX)).unwrap_or(0),
        upper: u64::try_from(both >> 64).unwrap_or(0),
    }
}

fn flag(is_set: bool, flag: DescriptorFlags) -> DescriptorFlags {
    if is_set {
        flag
    } else {
        DescriptorFlags::empty()
    }
}

impl types::Host for CallState {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<types::ErrorCode> {
        Ok(error.downcast()?.into())
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<IoError>,
    ) -> wasmtime::Result<Option<types::ErrorCode>> {
        let error = self.table.get(&error).map_err(table_error)?;
        let code = error.downcast_ref::<std::io::Error>().map(ErrorCode::from);
        Ok(code.map(Into::into))
    }
}

impl types::HostDirectoryEntryStream for CallState {
    fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let key = Resource::<Listing>::new_borrow(stream.rep());
        let listing = self
            .table
            .get_mut(&key)
            .map_err(|e| FsError::trap(table_error(e)))?;
        let Some(entry) = listing.entries.next() else {
            return Ok(None);
        };
        let entry = entry?;
        // WASI names are Unicode: what is not arrives with U+FFFD in it, and
        // cannot be opened by that name.
        Ok(Some(DirectoryEntry {
            name: entry.file_name().to_string_lossy().into_owned(),
            type_: entry.file_type().map_or(DescriptorType::Unknown, kind_of),
        }))
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.table
            .delete(Resource::<Listing>::new_own(stream.rep()))?;
        Ok(())
    }
}

impl types::HostDescriptor for CallState {
    fn read_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        offset: u64,
    ) -> FsResult<Resource<DynInputStream>> {
        let file = self.readable(&fd)?;
        let reader = FileReader {
            file,
            position: offset,
        };
        self.push_as(InStream::File(reader)).map_err(FsError::trap)
    }

    fn write_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        offset: u64,
    ) -> FsResult<Resource<DynOutputStream>> {
        let file = self.writable(&fd)?;
        let at = WriteAt::Position(offset);
        self.push_as(OutStream::File(FileWriter { file, at }))
            .map_err(FsError::trap)
    }

    fn append_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let file = self.writable(&fd)?;
        let at = WriteAt::End;
        self.push_as(OutStream::File(FileWriter { file, at }))
            .map_err(FsError::trap)
    }

    fn advise(
        &mut self,
        _: Resource<Descriptor>,
        _: u64,
        _: u64,
        _: types::Advice,
    ) -> FsResult<()> {
        Ok(())
    }

    fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        if let Node::File(file) = self.node(&fd)? {
            file.file.sync_data()?;
        }
        Ok(())
    }

    fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        if let Node::File(file) = self.node(&fd)? {
            file.file.sync_all()?;
        }
        Ok(())
    }

    fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        Ok(match self.node(&fd)? {
            Node::File(file) => {
                let read = flag(file.read, DescriptorFlags::READ);
                read | flag(file.write, DescriptorFlags::WRITE)
            }
            Node::Dir(dir) => {
                DescriptorFlags::READ | flag(dir.mutate, DescriptorFlags::MUTATE_DIRECTORY)
            }
        })
    }

    fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        Ok(kind_of(self.node_metadata(&fd)?.file_type()))
    }

    fn set_size(&mut self, fd: Resource<Descriptor>, size: u64) -> FsResult<()> {
        let file = self.writable(&fd)?;
        let grown = size.saturating_sub(file.metadata()?.len());
        self.meter
            .count_written(usize::try_from(grown).unwrap_or(usize::MAX))
            .map_err(FsError::trap)?;
        file.set_len(size)?;
        Ok(())
    }

    fn set_times(
        &mut self,
        _: Resource<Descriptor>,
        _: NewTimestamp,
        _: NewTimestamp,
    ) -> FsResult<()> {
        Err(ErrorCode::Unsupported.into())
    }

    fn read(
        &mut self,
        fd: Resource<Descriptor>,
        len: u64,
        offset: u64,
    ) -> FsResult<(Vec<u8>, bool)> {
        let file = self.readable(&fd)?;
        let len = usize::try_from(len.min(READ_CHUNK)).unwrap_or(0);
        let bytes = read_at(&file, len, offset)?;
        self.meter.count_read(bytes.len()).map_err(FsError::trap)?;
        // A regular file gives less than asked for at its end only.
        let end = bytes.len() < len;
        Ok((bytes, end))
    }

    fn write(&mut self, fd: Resource<Descriptor>, bytes: Vec<u8>, offset: u64) -> FsResult<u64> {
        use cap_std::fs::FileExt;
        let file = self.writable(&fd)?;
        self.meter
            .count_written(bytes.len())
            .map_err(FsError::trap)?;
        file.write_all_at(&bytes, offset)?;
        Ok(bytes.len() as u64)
    }

    fn read_directory(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<DirectoryEntryStream>> {
        let dir = self.directory(&fd)?;
        self.usage.used(&dir.mount, &dir.path, Access::List);
        let entries = dir.dir.entries()?;
        self.push_as(Listing { entries }).map_err(FsError::trap)
    }

    fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let result = self.make_directory(&fd, &path);
        self.answer(result)
    }

    fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        Ok(self.stat_of(&self.node_metadata(&fd)?))
    }

    fn stat_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: types::PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let result = self.metadata_at(&fd, flags, &path);
        let result = result.map(|m| self.stat_of(&m));
        self.answer(result)
    }

    fn set_times_at(
        &mut self,
        _: Resource<Descriptor>,
        _: types::PathFlags,
        _: String,
        _: NewTimestamp,
        _: NewTimestamp,
    ) -> FsResult<()> {
        Err(ErrorCode::Unsupported.into())
    }

    fn link_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: types::PathFlags,
        old: String,
        new_fd: Resource<Descriptor>,
        new: String,
    ) -> FsResult<()> {
        let result = self.hard_link(&fd, flags, &old, &new_fd, &new);
        self.answer(result)
    }

    fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: types::PathFlags,
        path: String,
        open_flags: types::OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let result = self.open(&fd, path_flags, &path, open_flags, flags);
        let node = self.answer(result)?;
        self.push_as(node).map_err(FsError::trap)
    }

    fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        let result = self.read_link(&fd, &path);
        self.answer(result)
    }

    fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let result = self.remove_directory(&fd, &path);
        self.answer(result)
    }

    fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        old: String,
        new_fd: Resource<Descriptor>,
        new: String,
    ) -> FsResult<()> {
        let result = self.rename(&fd, &old, &new_fd, &new);
        self.answer(result)
    }

    fn symlink_at(&mut self, fd: Resource<Descriptor>, _: String, new: String) -> FsResult<()> {
        let result = self.refuse_symlink(&fd, &new);
        self.answer(result)
    }

    fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let result = self.unlink(&fd, &path);
        self.answer(result)
    }

    fn is_same_object(
        &mut self,
        a: Resource<Descriptor>,
        b: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        use cap_std::fs::MetadataExt;
        let identity =
            |fd: &Resource<Descriptor>| self.node_metadata(fd).ok().map(|m| (m.dev(), m.ino()));
        Ok(matches!((identity(&a), identity(&b)), (Some(a), Some(b)) if a == b))
    }

    fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<types::MetadataHashValue> {
        Ok(hash_of(&self.node_metadata(&fd)?))
    }

    fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: types::PathFlags,
        path: String,
    ) -> FsResult<types::MetadataHashValue> {
        let result = self.metadata_at(&fd, flags, &path).map(|m| hash_of(&m));
        self.answer(result)
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Node>::new_own(fd.rep()))?;
        Ok(())
    }
}
