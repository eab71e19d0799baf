//! From the host's errors to those of `wasi:filesystem`.

use super::policy::Denied;
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// Why a file operation of a guest failed.
#[derive(Debug)]
pub(super) enum FileError {
    /// The operating system's answer.
    Io(std::io::Error),
    /// A code of ours.
    Code(ErrorCode),
    /// The grant does not cover it; the operator is told.
    Denied {
        path: Vec<String>,
        why: &'static str,
    },
    /// A ceiling was reached or a handle misused: the call ends.
    Trap(wasmtime::Error),
}

impl FileError {
    pub(super) fn denied(path: &[String], why: Denied) -> Self {
        Self::Denied {
            path: path.to_vec(),
            why: why.reason(),
        }
    }
}

impl From<std::io::Error> for FileError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ErrorCode> for FileError {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<wasmtime::Error> for FileError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Trap(error)
    }
}

impl From<FileError> for FsError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) => error.into(),
            FileError::Code(code) => code.into(),
            FileError::Denied { .. } => ErrorCode::NotPermitted.into(),
            FileError::Trap(reason) => FsError::trap(reason),
        }
    }
}
