//! What one store holds: the state of one call, and of nothing else (PL-21).

use crate::call::{Call, GrantedDirectory};
use crate::files::Mount;
use crate::limits::HANDLES;
use crate::log::Log;
use crate::meter::Meter;
use crate::usage::Usage;
use crate::wasi::{Clocks, Randomness};
use std::sync::Arc;
use std::time::Instant;
use wasmtime::component::ResourceTable;

pub(crate) struct CallState {
    pub(crate) call: Call,
    pub(crate) meter: Meter,
    pub(crate) table: ResourceTable,
    pub(crate) log: Log,
    pub(crate) usage: Usage,
    pub(crate) clocks: Clocks,
    pub(crate) randomness: Randomness,
    pub(crate) progress_reports: u32,
}

impl CallState {
    pub(crate) fn new(call: &Call, started: Instant) -> Self {
        let limits = call.limits.clone();
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        Self {
            table,
            log: Log::new(limits.log_lines, limits.log_line_bytes),
            usage: Usage::default(),
            clocks: Clocks::new(call.capabilities.clock),
            randomness: Randomness::new(call.capabilities.random),
            progress_reports: 0,
            meter: Meter::new(limits, started, call.cancel.clone()),
            call: call.clone(),
        }
    }

    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        self.call.capabilities.environment.clone()
    }

    pub(crate) fn mounts(&self) -> Vec<Arc<Mount>> {
        let open = |directory: &GrantedDirectory| match directory {
            GrantedDirectory::Open(mount) => Some(Arc::clone(mount)),
            GrantedDirectory::Broken { .. } => None,
        };
        self.call
            .capabilities
            .directories
            .iter()
            .filter_map(open)
            .collect()
    }
}
