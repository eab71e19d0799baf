//! An audit log whose writing nobody waits for.

use crate::audit::{AuditFilter, AuditLog, AuditRow};
use crate::error::StoreError;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Calls whose rows may wait; then the callers do.
const WAITING: usize = 1_024;
/// Calls that are written in one transaction.
const AT_ONCE: usize = 256;

/// Hands rows to a thread that writes them to another log, in their order. What
/// waits is written when this is dropped; a kill loses what was not written yet.
pub struct QueuedAudit {
    log: Arc<dyn AuditLog>,
    rows: Option<SyncSender<Work>>,
    writer: Option<JoinHandle<()>>,
    /// Why the last rows could not be written, until somebody is told.
    failure: Arc<Mutex<Option<StoreError>>>,
}

enum Work {
    Write(Vec<AuditRow>),
    /// Everything before it is written when this is dropped.
    Flush(SyncSender<()>),
}

impl QueuedAudit {
    /// Writes to `log`.
    #[must_use]
    pub fn new(log: Arc<dyn AuditLog>) -> Self {
        let (rows, waiting) = mpsc::sync_channel(WAITING);
        let failure = Arc::new(Mutex::new(None));
        let (to, failed) = (Arc::clone(&log), Arc::clone(&failure));
        Self {
            log,
            rows: Some(rows),
            writer: Some(thread::spawn(move || write(&*to, &waiting, &failed))),
            failure,
        }
    }

    fn send(&self, work: Work) -> Result<(), StoreError> {
        // The writer ends only after the sender is gone.
        if let Some(rows) = &self.rows
            && rows.send(work).is_err()
        {
            return Err(StoreError::Io {
                path: "the audit log".into(),
                why: "its writer has ended".to_owned(),
            });
        }
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().map_or(Ok(()), Err)
    }
}

fn write(log: &dyn AuditLog, waiting: &Receiver<Work>, failed: &Mutex<Option<StoreError>>) {
    while let Ok(first) = waiting.recv() {
        let mut rows = Vec::new();
        let mut flushed = Vec::new();
        let more = std::iter::from_fn(|| waiting.try_recv().ok());
        for work in std::iter::once(first).chain(more).take(AT_ONCE) {
            match work {
                Work::Write(some) => rows.extend(some),
                Work::Flush(done) => flushed.push(done),
            }
        }
        if let Err(error) = log.record(&rows) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }
}

impl AuditLog for QueuedAudit {
    /// Takes `rows`. An error is that of earlier rows.
    fn record(&self, rows: &[AuditRow]) -> Result<(), StoreError> {
        self.send(Work::Write(rows.to_vec()))
    }

    fn audit(
        &self,
        filter: &AuditFilter,
        after: u64,
        limit: u64,
    ) -> Result<Vec<(u64, AuditRow)>, StoreError> {
        let (done, written) = mpsc::sync_channel(1);
        self.send(Work::Flush(done))?;
        // An error is what is waited for: the other end is dropped, not used.
        let _ = written.recv();
        self.log.audit(filter, after, limit)
    }
}

impl Drop for QueuedAudit {
    fn drop(&mut self) {
        drop(self.rows.take());
        if let Some(writer) = self.writer.take() {
            // Its panic would be a bug, and a drop can tell nobody.
            let _ = writer.join();
        }
    }
}
