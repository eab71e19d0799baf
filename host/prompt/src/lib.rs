//! Profiles, markers and the World State diff: which section stands where, and what is sent.
//!
//! Pure: rendered bodies come in, messages come out. Who renders the bodies and
//! who stores the messages is decided elsewhere; nothing here reads a file,
//! waits, or asks for the time.
//!
//! A sample goes through four stations: [`WorldState`] knows what is enabled and
//! wraps a body in its marker, [`RetainedSections`] says what the conversation
//! still shows, [`WorldState::diff`] decides what has to be sent, and
//! [`Sample::commit`] gives the new [`Baseline`] once that has been written.

mod growth;
mod inert;
mod marker;
mod notice;
mod profile;
mod retained;
mod sample;
mod section;
mod skill;
#[cfg(test)]
mod testing;
mod world_state;

pub use growth::{Growth, SectionGrowth};
pub use marker::MarkerError;
pub use notice::{Locale, LocaleError, NoticeError, NoticeTexts, Notices};
pub use profile::{Profile, ProfileError};
pub use retained::{Retained, RetainedSections};
pub use sample::{Baseline, Emission, Outcome, Sample, SampleError, SampleId};
pub use section::{Body, OnError, SectionSpec, TokenCap};
pub use skill::SkillBody;
pub use world_state::{WorldState, WorldStateError};
