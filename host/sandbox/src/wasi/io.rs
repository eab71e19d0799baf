//! `wasi:io`: streams over files and the log, and pollables that are always ready.

use crate::files::{FileReader, FileWriter};
use crate::meter::table_error;
use crate::state::CallState;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::sync::io::{error, poll, streams};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, DynPollable, IoError, StreamError, StreamResult,
};

/// Bytes that one read gives and one write takes at the most.
const CHUNK: usize = 64 << 10;

/// What a guest can read from.
pub(crate) enum InStream {
    /// Standard input: closed.
    Empty,
    /// A granted file.
    File(FileReader),
}

/// What a guest can write to.
pub(crate) enum OutStream {
    /// The log.
    Stdout,
    /// The log.
    Stderr,
    /// A granted file.
    File(FileWriter),
}

/// An operating-system error on a stream, for the guest to look at.
pub(crate) fn stream_failure(error: std::io::Error) -> StreamError {
    StreamError::LastOperationFailed(error.into())
}

/// Something that is ready: all there is to wait for in here.
struct Ready;

impl CallState {
    /// Stores `entry` and hands it to the guest under the tag `T` of the WASI bindings.
    pub(crate) fn push_as<E: Send + 'static, T: 'static>(
        &mut self,
        entry: E,
    ) -> wasmtime::Result<Resource<T>> {
        let stored = self.table.push(entry).map_err(table_error)?;
        Ok(Resource::new_own(stored.rep()))
    }

    pub(crate) fn ready_pollable(&mut self) -> wasmtime::Result<Resource<DynPollable>> {
        self.push_as(Ready)
    }

    fn in_stream(&mut self, stream: &Resource<DynInputStream>) -> wasmtime::Result<&mut InStream> {
        self.table
            .get_mut(&Resource::new_borrow(stream.rep()))
            .map_err(table_error)
    }

    fn read_stream(
        &mut self,
        stream: &Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<Vec<u8>> {
        let len = usize::try_from(len).unwrap_or(CHUNK).min(CHUNK);
        let bytes = match self.in_stream(stream).map_err(StreamError::Trap)? {
            InStream::Empty => return Err(StreamError::Closed),
            InStream::File(reader) => reader.read(len)?,
        };
        self.meter
            .count_read(bytes.len())
            .map_err(StreamError::Trap)?;
        Ok(bytes)
    }

    fn write_stream(
        &mut self,
        stream: &Resource<DynOutputStream>,
        bytes: &[u8],
    ) -> StreamResult<()> {
        let key = Resource::<OutStream>::new_borrow(stream.rep());
        match self.table.get_mut(&key)? {
            OutStream::Stdout => self.log.stdout(bytes),
            OutStream::Stderr => self.log.stderr(bytes),
            OutStream::File(writer) => {
                self.meter
                    .count_written(bytes.len())
                    .map_err(StreamError::Trap)?;
                writer.write(bytes)?;
            }
        }
        Ok(())
    }

    fn write_zeroes_to(
        &mut self,
        stream: &Resource<DynOutputStream>,
        len: u64,
    ) -> StreamResult<()> {
        match usize::try_from(len) {
            Ok(len) if len <= CHUNK => self.write_stream(stream, &vec![0; len]),
            _ => Err(StreamError::trap("more zeroes than `check-write` allows")),
        }
    }
}

impl error::Host for CallState {}

impl error::HostError for CallState {
    fn to_debug_string(&mut self, error: Resource<IoError>) -> wasmtime::Result<String> {
        Ok(self.table.get(&error)?.to_string())
    }

    fn drop(&mut self, error: Resource<IoError>) -> wasmtime::Result<()> {
        self.table.delete(error)?;
        Ok(())
    }
}

impl poll::Host for CallState {
    fn poll(&mut self, list: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        wasmtime::ensure!(!list.is_empty(), "poll: the list is empty");
        let all = u32::try_from(list.len())?;
        Ok((0..all).collect())
    }
}

impl poll::HostPollable for CallState {
    fn ready(&mut self, _: Resource<DynPollable>) -> wasmtime::Result<bool> {
        Ok(true)
    }

    fn block(&mut self, _: Resource<DynPollable>) -> wasmtime::Result<()> {
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        self.table
            .delete(Resource::<Ready>::new_own(pollable.rep()))?;
        Ok(())
    }
}

impl streams::Host for CallState {
    fn convert_stream_error(
        &mut self,
        error: StreamError,
    ) -> wasmtime::Result<streams::StreamError> {
        match error {
            StreamError::Closed => Ok(streams::StreamError::Closed),
            StreamError::LastOperationFailed(cause) => {
                let cause = self.table.push(cause).map_err(table_error)?;
                Ok(streams::StreamError::LastOperationFailed(cause))
            }
            StreamError::Trap(reason) => Err(reason),
        }
    }
}

impl streams::HostInputStream for CallState {
    fn read(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<Vec<u8>> {
        self.read_stream(&stream, len)
    }

    fn blocking_read(
        &mut self,
        stream: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<Vec<u8>> {
        self.read_stream(&stream, len)
    }

    fn skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        Ok(self.read_stream(&stream, len)?.len() as u64)
    }

    fn blocking_skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        self.skip(stream, len)
    }

    fn subscribe(
        &mut self,
        _: Resource<DynInputStream>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        self.ready_pollable()
    }

    fn drop(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<()> {
        self.table
            .delete(Resource::<InStream>::new_own(stream.rep()))?;
        Ok(())
    }
}

impl streams::HostOutputStream for CallState {
    fn check_write(&mut self, _: Resource<DynOutputStream>) -> StreamResult<u64> {
        Ok(CHUNK as u64)
    }

    fn write(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        self.write_stream(&stream, &bytes)
    }

    fn blocking_write_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        bytes: Vec<u8>,
    ) -> StreamResult<()> {
        self.write_stream(&stream, &bytes)
    }

    fn flush(&mut self, _: Resource<DynOutputStream>) -> StreamResult<()> {
        Ok(())
    }

    fn blocking_flush(&mut self, _: Resource<DynOutputStream>) -> StreamResult<()> {
        Ok(())
    }

    fn subscribe(
        &mut self,
        _: Resource<DynOutputStream>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        self.ready_pollable()
    }

    fn write_zeroes(&mut self, stream: Resource<DynOutputStream>, len: u64) -> StreamResult<()> {
        self.write_zeroes_to(&stream, len)
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Resource<DynOutputStream>,
        len: u64,
    ) -> StreamResult<()> {
        self.write_zeroes_to(&stream, len)
    }

    fn splice(
        &mut self,
        to: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        let bytes = self.read_stream(&from, len)?;
        self.write_stream(&to, &bytes)?;
        Ok(bytes.len() as u64)
    }

    fn blocking_splice(
        &mut self,
        to: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        self.splice(to, from, len)
    }

    fn drop(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<()> {
        self.table
            .delete(Resource::<OutStream>::new_own(stream.rep()))?;
        Ok(())
    }
}
