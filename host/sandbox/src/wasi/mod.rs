//! WASI 0.2 as a plugin sees it: no arguments, an empty or granted environment,
//! no standard input, a log behind the outputs, fixed time and seeded
//! randomness unless granted, and the granted directories.
//!
//! The interfaces and resource tags are those of `wasmtime_wasi`; what stands
//! behind them is ours, because every function must count, bound or refuse.
//! Nothing in here waits: every stream and every pollable is ready at once, so
//! no guest can hold a host thread by sleeping (attack R21).

mod cli;
mod clocks;
mod io;
mod random;

pub(crate) use clocks::Clocks;
pub(crate) use io::{InStream, OutStream, stream_failure};
pub(crate) use random::Randomness;

use crate::state::CallState;
use wasmtime::component::{HasData, Linker};
use wasmtime_wasi::p2::bindings::sync::filesystem::types;
use wasmtime_wasi::p2::bindings::sync::io::error;
use wasmtime_wasi::p2::bindings::sync::io::{poll, streams};
use wasmtime_wasi::p2::bindings::{
    cli as wasi_cli, clocks as wasi_clocks, filesystem, random as wasi_random,
};

/// The host functions work on the whole state of the call.
struct State;

impl HasData for State {
    type Data<'a> = &'a mut CallState;
}

/// Links everything of WASI that a plugin may import. Sockets and HTTP are not
/// among it.
pub(crate) fn add_to_linker(l: &mut Linker<CallState>) -> wasmtime::Result<()> {
    error::add_to_linker::<CallState, State>(l, |s| s)?;
    poll::add_to_linker::<CallState, State>(l, |s| s)?;
    streams::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::environment::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::exit::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::stdin::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::stdout::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::stderr::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::terminal_input::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::terminal_output::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::terminal_stdin::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::terminal_stdout::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_cli::terminal_stderr::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_clocks::wall_clock::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_clocks::monotonic_clock::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_random::random::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_random::insecure::add_to_linker::<CallState, State>(l, |s| s)?;
    wasi_random::insecure_seed::add_to_linker::<CallState, State>(l, |s| s)?;
    filesystem::preopens::add_to_linker::<CallState, State>(l, |s| s)?;
    types::add_to_linker::<CallState, State>(l, |s| s)?;
    Ok(())
}
