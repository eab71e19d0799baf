//! Compiles and runs plugin components with nothing but what they were granted.
//!
//! A [`Sandbox`] loads components; a loaded [`Plugin`] is called through a typed
//! handle, [`SectionPlugin`], [`ToolPlugin`] or [`ProviderPlugin`], each time in
//! a fresh store, on the caller's own thread, under the [`Limits`] and [`Capabilities`] of its [`Call`]. What
//! came of it is an [`Outcome`]: a result or a typed [`SandboxError`], and a
//! [`CallReport`] of what the guest said, used and was refused.
//!
//! Nothing in here decides who gets what: that is the registry's business.

mod call;
mod cancel;
mod compile;
mod contract;
mod engine;
mod error;
mod facts;
mod files;
mod lift;
mod limits;
mod log;
mod meter;
mod provider;
mod run;
mod sandbox;
mod section;
mod services;
mod slots;
mod state;
mod tool;
mod usage;
mod wasi;

pub use call::{Call, CallReport, Capabilities, GrantedDirectory, Outcome};
pub use cancel::CancelToken;
pub use compile::{Compiler, compile_worker};
pub use error::{FailureKind, LimitKind, PluginFailure, SandboxError, one_line};
pub use facts::{Agent, Clock, Facts, Model, Platform, Policy, Request, ToolSummary, Workspace};
pub use files::{Access, DenyList, Mount, MountError, PathRules, PatternError};
pub use limits::{CompileLimits, Limits};
pub use log::{LogLevel, LogLine, LogSource};
pub use provider::{DecodeError, Decoder, ProviderPlugin};
pub use sandbox::{CacheLocation, Imports, Loaded, Plugin, Sandbox, SandboxConfig};
pub use section::{SectionBody, SectionPlugin};
pub use services::{KeyValues, Progress, ProgressSink, SeenFiles, Services};
pub use tool::{Effects, ToolAnswer, ToolPlugin, ToolSpec};
pub use usage::{FileUse, Refusal};
