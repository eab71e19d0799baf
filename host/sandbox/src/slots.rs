//! Bounds how many calls run at once, in all and of one plugin (PL-25).

use crate::error::SandboxError;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A number of slots that callers wait for.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Mutex<u32>,
    freed: Condvar,
}

/// One slot, given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<Slots>);

impl Slots {
    pub(crate) fn new(slots: u32) -> Arc<Self> {
        Arc::new(Self {
            free: Mutex::new(slots),
            freed: Condvar::new(),
        })
    }

    /// Waits for a slot until `within` has passed since `started`.
    pub(crate) fn take(
        self: &Arc<Self>,
        started: Instant,
        within: Duration,
    ) -> Result<Slot, SandboxError> {
        let left = within.saturating_sub(started.elapsed());
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut free, _) = self
            .freed
            .wait_timeout_while(free, left, |free| *free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        if *free == 0 {
            return Err(SandboxError::Busy(format!("{} ms", within.as_millis())));
        }
        *free -= 1;
        Ok(Slot(Arc::clone(self)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pl_25_a_full_house_is_an_error_and_not_a_hang() {
        let slots = Slots::new(1);
        let held = slots.take(Instant::now(), Duration::ZERO).unwrap();
        let error = slots
            .take(Instant::now(), Duration::from_millis(5))
            .unwrap_err();
        assert_eq!(error.code(), "busy");
        drop(held);
        assert!(slots.take(Instant::now(), Duration::ZERO).is_ok());
    }
}
