//! `wasi:clocks`: a wall clock that stands still unless granted, and a
//! monotonic clock that is virtual for everyone.
//!
//! The monotonic clock moves by one microsecond at every look and by the whole
//! span at every wait, so a guest that sleeps goes on at once, a guest that
//! measures sees time pass, and two runs see the same (determinism; R21).

use crate::state::CallState;
use std::time::{SystemTime, UNIX_EPOCH};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};

const NANOSECONDS_PER_LOOK: u64 = 1_000;

/// The clocks of one call.
#[derive(Debug)]
pub(crate) struct Clocks {
    wall_granted: bool,
    nanoseconds: u64,
}

impl Clocks {
    pub(crate) fn new(wall_granted: bool) -> Self {
        Self {
            wall_granted,
            nanoseconds: 0,
        }
    }
}

impl wall_clock::Host for CallState {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        let since = if self.clocks.wall_granted {
            SystemTime::now().duration_since(UNIX_EPOCH)?
        } else {
            std::time::Duration::ZERO
        };
        Ok(wall_clock::Datetime {
            seconds: since.as_secs(),
            nanoseconds: since.subsec_nanos(),
        })
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime {
            seconds: 0,
            nanoseconds: 1_000,
        })
    }
}

impl monotonic_clock::Host for CallState {
    fn now(&mut self) -> wasmtime::Result<monotonic_clock::Instant> {
        let now = &mut self.clocks.nanoseconds;
        *now = now.saturating_add(NANOSECONDS_PER_LOOK);
        Ok(*now)
    }

    fn resolution(&mut self) -> wasmtime::Result<monotonic_clock::Duration> {
        Ok(NANOSECONDS_PER_LOOK)
    }

    fn subscribe_instant(
        &mut self,
        when: monotonic_clock::Instant,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        self.clocks.nanoseconds = self.clocks.nanoseconds.max(when);
        self.ready_pollable()
    }

    fn subscribe_duration(
        &mut self,
        span: monotonic_clock::Duration,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        self.clocks.nanoseconds = self.clocks.nanoseconds.saturating_add(span);
        self.ready_pollable()
    }
}
