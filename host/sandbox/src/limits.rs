//! What one call, one component and one compilation may use at the most.

use std::time::Duration;

/// Native stack of a guest, in bytes; half of wasmtime's default. Rust guests
/// keep their own stack in linear memory and need far less.
pub(crate) const WASM_STACK: usize = 256 << 10;
/// Core instances in one component: a Rust guest has three, a JavaScript one about ten.
pub(crate) const INSTANCES: u32 = 32;
/// Linear memories in one component.
pub(crate) const MEMORIES: u32 = 4;
/// Tables in one component.
pub(crate) const TABLES: u32 = 16;
/// Elements of one table; large interpreters have about 10 000.
pub(crate) const TABLE_ELEMENTS: usize = 50_000;
/// No grant raises a guest's memory above this: it is the size of a pool slot.
pub(crate) const MEMORY_CEILING: usize = 512 << 20;
/// Live host resources (descriptors, streams, pollables) of one call.
pub(crate) const HANDLES: usize = 512;
/// Calls that run at the same time in one sandbox, and pool slots for them.
pub(crate) const CONCURRENT_CALLS: u32 = 48;
/// Of which one plugin may hold this many, so that its runaways leave room.
pub(crate) const CONCURRENT_CALLS_PER_PLUGIN: u32 = 8;
/// Bytes that one call to `get-random-bytes` may ask for.
pub(crate) const RANDOM_BYTES: u64 = 64 << 10;
/// Progress reports of one call that are shown.
pub(crate) const PROGRESS_REPORTS: u32 = 1_000;
/// Files of which a session remembers what it saw.
pub(crate) const SEEN_FILES: usize = 20_000;
/// Different uses and refusals kept in a call's report.
pub(crate) const REPORT_ENTRIES: usize = 256;

/// Ceilings of one call (PL-20). Reaching one ends the call with
/// [`SandboxError::LimitExceeded`](crate::SandboxError::LimitExceeded); the host
/// and every other plugin go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall time of the call, instantiation included.
    pub time: Duration,
    /// Bytes of all linear memories together.
    pub memory: usize,
    /// Bytes that the guest may hand to the host at once: its result, or the
    /// arguments of one host call. Checked before they are copied.
    pub output: usize,
    /// Calls from the guest into the host.
    pub host_calls: u64,
    /// Lines kept of the log, stdout and stderr together; more are counted.
    pub log_lines: usize,
    /// Bytes kept of one such line.
    pub log_line_bytes: usize,
    /// Bytes read from files.
    pub read_bytes: u64,
    /// Bytes written to files.
    pub written_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(2),
            memory: 64 << 20,
            output: 256 << 10,
            host_calls: 500_000,
            log_lines: 200,
            log_line_bytes: 4 << 10,
            read_bytes: 64 << 20,
            written_bytes: 64 << 20,
        }
    }
}

impl Limits {
    /// The smaller of both, limit by limit: what a plugin asks for never wins
    /// over the operator's ceiling (PL-11).
    #[must_use]
    pub fn capped_by(&self, ceiling: &Self) -> Self {
        Self {
            time: self.time.min(ceiling.time),
            memory: self.memory.min(ceiling.memory).min(MEMORY_CEILING),
            output: self.output.min(ceiling.output),
            host_calls: self.host_calls.min(ceiling.host_calls),
            log_lines: self.log_lines.min(ceiling.log_lines),
            log_line_bytes: self.log_line_bytes.min(ceiling.log_line_bytes),
            read_bytes: self.read_bytes.min(ceiling.read_bytes),
            written_bytes: self.written_bytes.min(ceiling.written_bytes),
        }
    }
}

/// Ceilings of loading and compiling one component (PL-19).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileLimits {
    /// Bytes of the component file.
    pub component_bytes: usize,
    /// Functions in all its core modules together.
    pub functions: u32,
    /// Types in all its core modules together.
    pub types: u32,
    /// Bytes of the body of one function.
    pub function_bytes: usize,
    /// Core modules and nested components.
    pub modules: u32,
    /// Address space of the compiling process, in bytes.
    pub memory: u64,
    /// Wall time of a compilation of up to 512 KiB.
    pub time: Duration,
    /// What each further 256 KiB adds to it.
    pub more_time: Duration,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self {
            component_bytes: 64 << 20,
            functions: 60_000,
            types: 10_000,
            function_bytes: 1 << 20,
            modules: 64,
            memory: 1 << 30,
            time: Duration::from_millis(1800),
            more_time: Duration::from_secs(1),
        }
    }
}

impl CompileLimits {
    /// Wall time allowed for a component of `bytes` bytes.
    pub(crate) fn time_for(&self, bytes: usize) -> Duration {
        let further = bytes.saturating_sub(512 << 10).div_ceil(256 << 10);
        let further = u32::try_from(further).unwrap_or(u32::MAX);
        self.time
            .saturating_add(self.more_time.saturating_mul(further))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pl_11_the_ceiling_wins_in_every_limit() {
        let ceiling = Limits {
            time: Duration::from_millis(1),
            memory: 1,
            output: 1,
            host_calls: 1,
            log_lines: 1,
            log_line_bytes: 1,
            read_bytes: 1,
            written_bytes: 1,
        };
        assert_eq!(Limits::default().capped_by(&ceiling), ceiling);
        assert_eq!(ceiling.capped_by(&Limits::default()), ceiling);
    }

    #[test]
    fn pl_19_large_components_get_more_time_and_never_overflow() {
        let limits = CompileLimits::default();
        assert_eq!(limits.time_for(1000), limits.time);
        assert_eq!(limits.time_for(512 << 10), limits.time);
        assert!(limits.time_for(513 << 10) > limits.time);
        let _ = limits.time_for(usize::MAX);
    }
}
