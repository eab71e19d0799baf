//! Planning of compactions: what may be cut, what a summary is asked for, what
//! stands in the place of what it replaces. Who asks the model and stores the
//! result is decided elsewhere.

mod backoff;
mod checkpoint;
mod cuts;
mod error;
mod instruction;
mod progress;
mod reminder;
mod spill;
mod spoken;
mod summary;
mod transcript;
mod view;

pub use backoff::Backoff;
pub use checkpoint::{head, last_user_request};
pub use cuts::{keep_last, legal_cuts};
pub use error::{CompactionError, SummaryFault};
pub use instruction::Language;
pub use progress::{Progress, progress};
pub use reminder::Reminder;
pub use spill::{SpilledResult, already_pruned, newly_pruned, spill_reference};
pub use summary::{SUMMARY_FORMAT_VERSION, check_summary};
pub use transcript::{MAX_SUMMARY_OUTPUT_TOKENS, SummaryRequest, summary_request};
