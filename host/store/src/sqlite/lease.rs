//! The right to write to a session: a lock on a file, which ends with its
//! process however that ends (SR-11).

use crate::error::StoreError;
use crate::id::SessionId;
use crate::sqlite::failure::io_error;
use crate::sqlite::place::Place;
use std::fs::{File, TryLockError};

/// Held for as long as it lives.
#[derive(Debug)]
pub(super) struct Lease {
    file: File,
}

impl Lease {
    pub(super) fn take(place: &Place, session: &SessionId) -> Result<Self, StoreError> {
        let path = place.locks()?.join(format!("{session}.lock"));
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // A link or a pipe that a repository brought along is not opened.
            options.custom_flags(no_link_no_wait());
        }
        let file = options.open(&path).map_err(|e| io_error(&path, &e))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::SessionBusy(session.clone())),
            Err(TryLockError::Error(error)) => Err(io_error(&path, &error)),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A process that is just being started may still have the file, and
        // closing ours would then not end the lock.
        let _ = self.file.unlock();
    }
}

#[cfg(unix)]
fn no_link_no_wait() -> i32 {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    i32::try_from(flags.bits()).unwrap_or(0)
}
