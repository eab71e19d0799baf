//! The store as its users see it, and what can happen to it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says what it skips"
)]

mod child;
mod common;
mod crash;
mod damage;
mod faults;
mod laws;
mod plugins;
mod processes;
mod size;
mod transfer;
mod turns;
