//! Profiles, markers and the World State: which section stands where, and what
//! of it is sent.
//!
//! Pure: bodies come in, messages come out. Who renders the bodies and who
//! stores the messages is decided elsewhere.

mod growth;
mod marker;
mod notice;
mod profile;
mod retained;
mod world_state;

pub use growth::{Growth, SectionGrowth, growth};
pub use marker::{MarkerError, Markers, TagOwner};
pub use notice::{Locale, NoticeTexts, Notices};
pub use profile::{Profile, ProfileError};
pub use retained::{Presence, RetainedSections};
pub use world_state::{
    Baseline, Body, Emission, OnError, Sample, SampleError, SampleId, SampledBody, SectionSpec,
    WorldState,
};
