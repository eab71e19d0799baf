//! The pure context engine: three regions in, one provider-neutral request out.
//!
//! [`prepare`] copies the conversation, prunes old tool results (CE-7), bounds
//! large ones (CE-8), makes calls and results pair up (CE-9), checks the system
//! context (CE-4), measures the budget (CE-13) and the limits (CE-15, CE-16).
//! It reads nothing but its input and changes nothing of it (CE-1, CE-2).
//!
//! ```
//! let document = r#"{"format": "sectile.context/1",
//!   "model": {"name": "m", "context_window": 200000, "max_output_tokens": 32000, "accepts_data": true},
//!   "system": [{"key": "core/agent-system", "content": "Be brief."}],
//!   "conversation": {"pruned_through_sequence": null, "items": []}, "tools": []}"#;
//! let prepared = sectile_engine::prepare_document(document)?;
//! assert_eq!(prepared.limits.auto_compact_token_limit, 142_800);
//! # Ok::<(), sectile_engine::EngineError>(())
//! ```

mod boundary;
mod budget;
pub mod compaction;
mod document;
mod error;
mod limits;
mod normalise;
mod pairing;
mod prefix;
mod prepare;
mod project;
mod provenance;
mod prune;
mod text;
mod wire;

pub use boundary::newest_turn;
pub use budget::{Budget, BudgetRule, estimate_tokens};
pub use document::{ContextDocument, PREPARED_FORMAT, PreparedDocument, prepare_document};
pub use error::EngineError;
pub use limits::{CompactRule, Limits, MAX_SYSTEM_PART_TOKENS};
pub use normalise::Displaced;
pub use prefix::{PrefixCause, PrefixReport, prefix_report};
pub use prepare::{ContextInput, MessageOrigin, PreparedModelCall, Report, prepare};
pub use provenance::{MessageProvenance, Rule, Span, SpanSource};
pub use wire::for_provider;
