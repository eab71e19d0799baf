//! The wasmtime engine: every knob that bears on safety, set in one place, and
//! the clock that interrupts guests.

use crate::error::SandboxError;
use crate::limits::{
    CONCURRENT_CALLS, INSTANCES, MEMORIES, MEMORY_CEILING, TABLE_ELEMENTS, TABLES, WASM_STACK,
};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    WasmBacktraceDetails,
};

/// Between two looks at deadline and cancellation while a guest computes.
const TICK: Duration = Duration::from_millis(10);

/// Core instances, memories and tables that the pool holds for each concurrent
/// call. A component may use more, up to its own ceilings, while others use less.
const INSTANCES_PER_CALL: u32 = 8;
const MEMORIES_PER_CALL: u32 = 2;
const TABLES_PER_CALL: u32 = 4;
/// Bytes of a used memory slot that stay resident for its next user, cleared.
const KEEP_RESIDENT: usize = 1 << 20;

/// Settings that decide which machine code is made. The compiling process and
/// the host must agree on them, or the host refuses the artifact.
fn code_config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK)
        .cranelift_opt_level(OptLevel::Speed)
        // The same computation gives the same bits on every machine.
        .cranelift_nan_canonicalization(true)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .debug_info(false)
        .concurrency_support(false)
        // What Rust, C, Go, JavaScript and Python guests do not need is off (B14).
        .wasm_component_model(true)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_relaxed_simd(false)
        .wasm_wide_arithmetic(false)
        .wasm_custom_page_sizes(false)
        .shared_memory(false);
    config
}

/// An engine that only compiles; it reserves no memory for instances.
pub(crate) fn compiling_engine() -> Result<Engine, SandboxError> {
    Engine::new(&code_config()).map_err(|e| SandboxError::host("start the compiler", e))
}

/// An engine that also runs, from a pool of instance slots.
pub(crate) fn running_engine() -> Result<Engine, SandboxError> {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(CONCURRENT_CALLS)
        .total_core_instances(CONCURRENT_CALLS * INSTANCES_PER_CALL)
        .total_memories(CONCURRENT_CALLS * MEMORIES_PER_CALL)
        .total_tables(CONCURRENT_CALLS * TABLES_PER_CALL)
        .max_core_instances_per_component(INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_memory_size(MEMORY_CEILING)
        .table_elements(TABLE_ELEMENTS)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT);
    let mut config = code_config();
    config
        .memory_init_cow(true)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config).map_err(|e| SandboxError::host("start the engine", e))
}

/// Moves the engine's epoch from a thread of its own while calls run, so that
/// neither guests nor an async executor can hold it back (PL-25).
#[derive(Debug)]
pub(crate) struct Ticker {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<TickerState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct TickerState {
    running_calls: usize,
    stop: bool,
}

/// Keeps the ticker going while it lives.
pub(crate) struct Ticking<'a>(&'a Shared);

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> Result<Self, SandboxError> {
        let shared = Arc::new(Shared::default());
        let (engine, theirs) = (engine.clone(), Arc::clone(&shared));
        thread::Builder::new()
            .name("sectile-ticker".to_owned())
            .spawn(move || tick(&engine, &theirs))
            .map_err(|e| SandboxError::host("start its clock", e))?;
        Ok(Self { shared })
    }

    pub(crate) fn run(&self) -> Ticking<'_> {
        self.shared.update(|state| state.running_calls += 1);
        Ticking(&self.shared)
    }
}

impl Shared {
    fn update(&self, change: impl FnOnce(&mut TickerState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.update(|state| state.running_calls -= 1);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.update(|state| state.stop = true);
    }
}

fn tick(engine: &Engine, shared: &Shared) {
    loop {
        let idle = |state: &mut TickerState| state.running_calls == 0 && !state.stop;
        let state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = shared
            .changed
            .wait_while(state, idle)
            .unwrap_or_else(PoisonError::into_inner);
        if state.stop {
            return;
        }
        drop(state);
        thread::sleep(TICK);
        engine.increment_epoch();
    }
}
