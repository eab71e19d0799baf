//! A workspace for MCP clients: its plugins' tools, its sections as resources,
//! and its composed context as a prompt (plugins.md, revisions 2026-07-28 and
//! 2025-11-25).
//!
//! Everything that a client asks for runs in the sandbox and under the grants
//! of the workspace, as in a turn. Nothing that a plugin prints reaches the
//! protocol's stream.

mod answers;
mod call;
mod changes;
mod error;
mod http;
mod run;
mod served;
mod server;
mod stdio;
mod token;

pub use error::McpError;
pub use http::{HttpOptions, HttpServer};
pub use served::Served;
pub use stdio::serve_stdio;
pub use token::Token;
