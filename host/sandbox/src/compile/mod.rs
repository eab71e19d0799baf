//! From component bytes to machine code, behind ceilings (PL-19).

mod cache;
mod guard;
mod worker;

pub(crate) use cache::{ArtifactCache, Lookup};
pub(crate) use guard::check;
pub(crate) use worker::compile;
pub use worker::{Compiler, compile_worker};
