//! Streams over granted files.

use crate::wasi::stream_failure;
use cap_std::fs::{File, FileExt};
use rustix::buffer::spare_capacity;
use std::sync::Arc;
use wasmtime_wasi::p2::{StreamError, StreamResult};

/// Reads a file from a position onwards.
pub(crate) struct FileReader {
    pub(super) file: Arc<File>,
    pub(super) position: u64,
}

impl FileReader {
    /// Up to `len` bytes; [`StreamError::Closed`] at the end of the file.
    pub(crate) fn read(&mut self, len: usize) -> StreamResult<Vec<u8>> {
        if len == 0 {
            return Ok(Vec::new());
        }
        let bytes = read_at(&self.file, len, self.position).map_err(stream_failure)?;
        if bytes.is_empty() {
            return Err(StreamError::Closed);
        }
        self.position = self.position.saturating_add(bytes.len() as u64);
        Ok(bytes)
    }
}

/// Where a writer puts its bytes.
pub(super) enum WriteAt {
    Position(u64),
    End,
}

/// Writes a file from a position onwards, or at its end.
pub(crate) struct FileWriter {
    pub(super) file: Arc<File>,
    pub(super) at: WriteAt,
}

impl FileWriter {
    /// Writes all of `bytes`.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> StreamResult<()> {
        let start = match self.at {
            WriteAt::Position(position) => position,
            WriteAt::End => self.file.metadata().map_err(stream_failure)?.len(),
        };
        self.file
            .write_all_at(bytes, start)
            .map_err(stream_failure)?;
        if let WriteAt::Position(position) = &mut self.at {
            *position = position.saturating_add(bytes.len() as u64);
        }
        Ok(())
    }
}

/// Up to `len` bytes at `position`; fewer only at the end of the file or when
/// the system gives fewer.
pub(super) fn read_at(file: &File, len: usize, position: u64) -> std::io::Result<Vec<u8>> {
    // Not filled with zeros first: small files are read with large buffers.
    let mut buffer = Vec::with_capacity(len);
    loop {
        match rustix::io::pread(file, spare_capacity(&mut buffer), position) {
            Ok(_) => return Ok(buffer),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
