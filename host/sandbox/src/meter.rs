//! Counts what one call uses and ends it at a ceiling (PL-20).

use crate::cancel::CancelToken;
use crate::error::LimitKind;
use crate::limits::{HANDLES, INSTANCES, Limits, MEMORIES, TABLE_ELEMENTS, TABLES};
use std::fmt;
use std::time::{Duration, Instant};
use wasmtime::ResourceLimiter;
use wasmtime::component::ResourceTableError;

/// Travels through wasmtime as the reason of a trap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LimitHit {
    pub(crate) which: LimitKind,
    pub(crate) limit: String,
}

impl fmt::Display for LimitHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} limit of {}", self.which, self.limit)
    }
}

impl std::error::Error for LimitHit {}

/// Travels through wasmtime when the call's token was cancelled.
#[derive(Debug)]
pub(crate) struct WasCancelled;

impl fmt::Display for WasCancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for WasCancelled {}

#[derive(Debug)]
pub(crate) struct Meter {
    limits: Limits,
    started: Instant,
    cancel: CancelToken,
    host_calls: u64,
    read: u64,
    written: u64,
    memory: usize,
}

impl Meter {
    /// `started` is when the call was asked for, so that waiting for a slot counts.
    pub(crate) fn new(limits: Limits, started: Instant, cancel: CancelToken) -> Self {
        Self {
            limits,
            started,
            cancel,
            host_calls: 0,
            read: 0,
            written: 0,
            memory: 0,
        }
    }

    /// Another call into the same store: its time and host calls are its own.
    pub(crate) fn start_anew(&mut self, started: Instant) {
        self.started = started;
        self.host_calls = 0;
    }

    /// Runs at every tick of the sandbox's clock while the guest computes, and
    /// at every call into the host.
    pub(crate) fn check_time(&self) -> wasmtime::Result<()> {
        if self.cancel.is_cancelled() {
            return Err(WasCancelled.into());
        }
        if self.started.elapsed() >= self.limits.time {
            return Err(self.hit(LimitKind::Time));
        }
        Ok(())
    }

    pub(crate) fn count_host_call(&mut self) -> wasmtime::Result<()> {
        self.host_calls += 1;
        if self.host_calls > self.limits.host_calls {
            return Err(self.hit(LimitKind::HostCalls));
        }
        // A look at the clock costs more than most host calls do.
        if self.host_calls.is_multiple_of(64) {
            self.check_time()?;
        }
        Ok(())
    }

    pub(crate) fn count_read(&mut self, bytes: usize) -> wasmtime::Result<()> {
        self.read = self.read.saturating_add(bytes as u64);
        if self.read > self.limits.read_bytes {
            return Err(self.hit(LimitKind::ReadBytes));
        }
        Ok(())
    }

    pub(crate) fn count_written(&mut self, bytes: usize) -> wasmtime::Result<()> {
        self.written = self.written.saturating_add(bytes as u64);
        if self.written > self.limits.written_bytes {
            return Err(self.hit(LimitKind::WrittenBytes));
        }
        Ok(())
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn host_calls(&self) -> u64 {
        self.host_calls
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Bytes of linear memory at the end of the call, which is its peak: memories never shrink.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    fn hit(&self, which: LimitKind) -> wasmtime::Error {
        limit_hit(which, &self.limits).into()
    }
}

/// The ceiling `which` as it stands in `limits`, in words.
pub(crate) fn limit_hit(which: LimitKind, limits: &Limits) -> LimitHit {
    let limit = match which {
        LimitKind::Time => format!("{} ms", limits.time.as_millis()),
        LimitKind::Memory => bytes(limits.memory as u64),
        LimitKind::Table => format!("{TABLE_ELEMENTS} elements"),
        LimitKind::Instances => format!("{INSTANCES} instances"),
        LimitKind::Stack => bytes(crate::limits::WASM_STACK as u64),
        LimitKind::Output => bytes(limits.output as u64),
        LimitKind::HostCalls => format!("{} calls", limits.host_calls),
        LimitKind::Handles => format!("{HANDLES} handles"),
        LimitKind::RandomBytes => bytes(crate::limits::RANDOM_BYTES),
        LimitKind::ReadBytes => bytes(limits.read_bytes),
        LimitKind::WrittenBytes => bytes(limits.written_bytes),
    };
    LimitHit { which, limit }
}

fn bytes(n: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if n >= 1 << shift && n.trailing_zeros() >= shift {
            return format!("{} {unit}", n >> shift);
        }
    }
    format!("{n} bytes")
}

/// A full resource table is the guest's doing; any other error is a misuse of
/// a handle and a plain trap.
pub(crate) fn table_error(error: ResourceTableError) -> wasmtime::Error {
    match error {
        ResourceTableError::Full => limit_hit(LimitKind::Handles, &Limits::default()).into(),
        other => other.into(),
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let all = self.memory.saturating_sub(current).saturating_add(desired);
        if all > self.limits.memory {
            return Err(self.hit(LimitKind::Memory));
        }
        self.memory = all;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > TABLE_ELEMENTS {
            return Err(self.hit(LimitKind::Table));
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        INSTANCES as usize
    }

    fn tables(&self) -> usize {
        TABLES as usize
    }

    fn memories(&self) -> usize {
        MEMORIES as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(limits: Limits) -> Meter {
        Meter::new(limits, Instant::now(), CancelToken::new())
    }

    #[test]
    fn pl_20_all_memories_count_together() {
        let mut meter = meter(Limits {
            memory: 100,
            ..Limits::default()
        });
        assert!(meter.memory_growing(0, 60, None).unwrap());
        assert!(meter.memory_growing(0, 40, None).unwrap());
        let error = meter.memory_growing(40, 41, None).unwrap_err();
        assert_eq!(
            error.downcast_ref::<LimitHit>().unwrap().which,
            LimitKind::Memory
        );
    }

    #[test]
    fn pl_20_the_last_allowed_use_passes_and_the_next_does_not() {
        let mut meter = meter(Limits {
            host_calls: 2,
            read_bytes: 10,
            written_bytes: 10,
            ..Limits::default()
        });
        assert!(meter.count_host_call().is_ok() && meter.count_host_call().is_ok());
        assert!(meter.count_host_call().is_err());
        assert!(meter.count_read(10).is_ok() && meter.count_read(1).is_err());
        assert!(meter.count_written(10).is_ok() && meter.count_written(1).is_err());
    }

    #[test]
    fn pl_24_cancelled_wins_over_time() {
        let cancel = CancelToken::new();
        let meter = Meter::new(
            Limits {
                time: Duration::ZERO,
                ..Limits::default()
            },
            Instant::now(),
            cancel.clone(),
        );
        assert!(meter.check_time().unwrap_err().is::<LimitHit>());
        cancel.cancel();
        assert!(meter.check_time().unwrap_err().is::<WasCancelled>());
    }

    #[test]
    fn limits_are_named_with_their_unit() {
        assert_eq!(bytes(64 << 20), "64 MiB");
        assert_eq!(bytes(1500), "1500 bytes");
        assert_eq!(
            limit_hit(LimitKind::Time, &Limits::default()).to_string(),
            "time limit of 2000 ms"
        );
    }
}
