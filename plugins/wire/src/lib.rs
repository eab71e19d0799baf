//! What the provider adapters share. Everything here is pure: the same input
//! gives the same output, in any split.
//!
//! Reading an answer: [`body`] turns bytes into frames (through [`sse`]),
//! [`arguments`] collects the arguments of a tool call, [`outbox`] lets exactly
//! one end through, [`usage`] gives counters one meaning.
//!
//! Writing a request: [`turns`] gives a conversation the form that all protocols
//! want, [`ids`] and [`names`] map into a protocol's alphabet, [`schema`] lowers
//! tool schemas, [`data`] and [`state`] print blocks, [`sampling`] prints numbers, [`extra`] adds what the
//! operator configured, [`notes`] collects what was not taken as it was.
//!
//! Reading an error: [`problem`] reads a body of any shape, [`classify`] says
//! what it means.

pub mod arguments;
pub mod body;
pub mod classify;
pub mod data;
pub mod extra;
pub mod ids;
pub mod names;
pub mod notes;
pub mod outbox;
pub mod problem;
pub mod sampling;
pub mod schema;
pub mod sse;
pub mod state;
pub mod turns;
pub mod usage;
