//! The life of one call: store, ceilings, result, report.

use crate::call::{Call, CallReport, Outcome};
use crate::error::{LimitKind, SandboxError, one_line};
use crate::limits::{HANDLES, Limits};
use crate::meter::{LimitHit, WasCancelled, limit_hit};
use crate::sandbox::{Inner, Plugin};
use crate::state::CallState;
use std::time::Instant;
use wasmtime::{CallHook, PoolConcurrencyLimitError, Store, Trap, UpdateDeadline, WasmBacktrace};
use wasmtime_wasi::I32Exit;

/// Frames of a trap that are kept for the log.
const MAX_FRAMES: usize = 32;

/// A store and what runs in it, for as long as its owner keeps it.
pub(crate) struct Session {
    plugin: Plugin,
    store: Store<CallState>,
    limits: Limits,
}

impl Session {
    /// A store of its own for `plugin`.
    pub(crate) fn open(plugin: &Plugin, call: &Call) -> Self {
        Self {
            store: open(plugin.sandbox(), call, Instant::now()),
            plugin: plugin.clone(),
            limits: call.limits.clone(),
        }
    }

    /// One call into the store, with the time and the host calls of one call.
    pub(crate) fn enter<T>(
        &mut self,
        export: &'static str,
        body: impl FnOnce(&mut Store<CallState>) -> wasmtime::Result<T>,
    ) -> Result<T, SandboxError> {
        let started = Instant::now();
        let _held = self.plugin.slot(started, self.limits.time)?;
        self.store.data_mut().meter.start_anew(started);
        enter(self.plugin.sandbox(), &mut self.store, body)
            .map_err(|error| explain(&error, export, &self.limits))
    }

    pub(crate) fn into_state(self) -> CallState {
        self.store.into_data()
    }
}

pub(crate) fn run<T>(
    sandbox: &Inner,
    export: &'static str,
    call: &Call,
    started: Instant,
    body: impl FnOnce(&mut Store<CallState>) -> wasmtime::Result<Result<T, SandboxError>>,
) -> Outcome<T> {
    let mut store = open(sandbox, call, started);
    let result = enter(sandbox, &mut store, body)
        .unwrap_or_else(|error| Err(explain(&error, export, &call.limits)));
    Outcome {
        result,
        report: report(store.into_data()),
    }
}

fn open(sandbox: &Inner, call: &Call, started: Instant) -> Store<CallState> {
    let mut store = Store::new(&sandbox.engine, CallState::new(call, started));
    store.limiter(|state| &mut state.meter);
    store.set_hostcall_fuel(call.limits.output);
    store.set_max_component_handles(HANDLES);
    store.call_hook(|mut store, hook| match hook {
        CallHook::CallingHost => store.data_mut().meter.count_host_call(),
        _ => Ok(()),
    });
    store.epoch_deadline_callback(|store| {
        store.data().meter.check_time()?;
        Ok(UpdateDeadline::Continue(1))
    });
    store
}

fn enter<T>(
    sandbox: &Inner,
    store: &mut Store<CallState>,
    body: impl FnOnce(&mut Store<CallState>) -> wasmtime::Result<T>,
) -> wasmtime::Result<T> {
    store.set_epoch_deadline(1);
    let _ticking = sandbox.ticker.run();
    body(store)
}

pub(crate) fn report(state: CallState) -> CallReport {
    let (log, suppressed_log_lines) = state.log.finish();
    let (uses, refusals) = state.usage.into_lists();
    CallReport {
        elapsed: state.meter.elapsed(),
        host_calls: state.meter.host_calls(),
        memory: state.meter.memory(),
        log,
        suppressed_log_lines,
        uses,
        refusals,
    }
}

/// What ended the guest, from the error that came out of wasmtime.
fn explain(error: &wasmtime::Error, export: &'static str, limits: &Limits) -> SandboxError {
    if let Some(LimitHit { which, limit }) = error.downcast_ref() {
        return SandboxError::LimitExceeded {
            which: *which,
            limit: limit.clone(),
        };
    }
    if error.is::<WasCancelled>() {
        return SandboxError::Cancelled;
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return SandboxError::Busy(format!("{} ms", limits.time.as_millis()));
    }
    let exceeded = |which| {
        let LimitHit { which, limit } = limit_hit(which, limits);
        SandboxError::LimitExceeded { which, limit }
    };
    let reason = error.root_cause().to_string();
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => return exceeded(LimitKind::Stack),
        Some(Trap::Interrupt) => return exceeded(LimitKind::Time),
        _ => {}
    }
    // Wasmtime keeps these errors to itself; the words are pinned by tests.
    if reason.contains("fuel") {
        return exceeded(LimitKind::Output);
    }
    if reason.contains("handle limit exceeded") {
        return exceeded(LimitKind::Handles);
    }
    if reason.contains("resource limit exceeded") {
        return exceeded(LimitKind::Instances);
    }
    let kind = match (
        error.downcast_ref::<I32Exit>(),
        error.downcast_ref::<Trap>(),
    ) {
        (Some(I32Exit(code)), _) => format!("it exited with status {code}"),
        (_, Some(trap)) => trap.to_string(),
        _ => reason,
    };
    SandboxError::Trap {
        export,
        kind: one_line(&kind),
        backtrace: backtrace(error),
    }
}

fn backtrace(error: &wasmtime::Error) -> Vec<String> {
    let Some(trace) = error.downcast_ref::<WasmBacktrace>() else {
        return Vec::new();
    };
    let text = trace.to_string();
    let lines = text.lines().map(|line| one_line(line.trim()));
    lines.take(MAX_FRAMES).collect()
}
