//! What of the World State is sent: a diff against what was sent before
//! (WS-1 to WS-9), as a state machine without input or output.

use crate::marker::{MarkerError, Markers, TagOwner};
use crate::notice::{Locale, Notices};
use crate::retained::{Presence, RetainedSections};
use sectile_engine::estimate_tokens;
use sectile_model::{Item, SectionId, Tag};
use std::collections::BTreeMap;
use std::fmt;

/// What happens when a section cannot be rendered (WS-5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnError {
    /// The turn ends.
    #[default]
    Fail,
    /// The section counts as unchanged, and the operator is told.
    Omit,
}

/// An enabled world-state section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionSpec {
    /// Its identity.
    pub id: SectionId,
    /// Its marker.
    pub tag: Tag,
    /// Who renders it.
    pub owner: TagOwner,
    /// What is said when it changes.
    pub notices: Notices,
    /// Ceiling of its message (WS-14).
    pub max_tokens: u64,
    /// What happens when it cannot be rendered.
    pub on_error: OnError,
}

impl SectionSpec {
    /// Code of a failure of this section (WS-5).
    #[must_use]
    pub fn error_code(&self) -> String {
        match self.id.as_str() {
            "runtime/user-project-context" => "user_project_context_error".to_owned(),
            "project/AGENTS.md" => "project_instruction_error".to_owned(),
            "skills/catalog" => "skill_catalog_task_error".to_owned(),
            "runtime/sandbox-policy" => "sandbox_policy_error".to_owned(),
            other => format!("section_error:{other}"),
        }
    }
}

/// A rendered body, before it is wrapped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    /// The text.
    pub text: String,
    /// Attributes of the marker.
    pub attributes: Vec<(String, String)>,
}

/// What came of rendering one section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampledBody {
    /// A body.
    Present(Body),
    /// The section is absent now.
    Absent,
    /// It failed and the operator lets that pass: it counts as unchanged.
    Unchanged,
}

/// Which sample a message belongs to; gives the message its id (WS-2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleId {
    /// The turn.
    pub turn: String,
    /// The model call in it.
    pub model_call: u32,
    /// 1, or 2 after a compaction inside the turn (WS-4).
    pub sample: u32,
}

impl SampleId {
    fn message_id(&self, section: &SectionId) -> String {
        format!(
            "world-state:{}:{}:{}:{section}",
            self.turn, self.model_call, self.sample
        )
    }
}

/// One message to be persisted and appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emission {
    /// The section.
    pub section: SectionId,
    /// Id of the message.
    pub message_id: String,
    /// Its text.
    pub text: String,
}

/// What was sent last, by section. Lives in memory only (WS-9).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline(BTreeMap<SectionId, Option<String>>);

/// The messages of one sample, and the baseline that holds once they are
/// written. Until then the old one does (WS-3): dropping a sample changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The messages, in the order of the sections, never merged.
    pub emissions: Vec<Emission>,
    next: Baseline,
}

impl Sample {
    /// Call when every message of the sample has been written.
    #[must_use]
    pub fn commit(self) -> Baseline {
        self.next
    }
}

/// A section whose body cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleError {
    /// The section.
    pub section: SectionId,
    /// Its code (WS-5).
    pub code: String,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "section {} cannot be sent: {}",
            self.section, self.reason
        )
    }
}

impl std::error::Error for SampleError {}

/// The enabled world-state sections in their fixed order (WS-1).
#[derive(Debug, Clone, Default)]
pub struct WorldState {
    sections: Vec<SectionSpec>,
    markers: Markers,
    locale: Locale,
}

impl WorldState {
    /// Sections in the order in which they are sent.
    ///
    /// # Errors
    /// [`MarkerError::DuplicateTag`] when two of them have one tag (WS-11).
    pub fn new(sections: Vec<SectionSpec>, locale: Locale) -> Result<Self, MarkerError> {
        let mut markers = Markers::default();
        for section in &sections {
            markers.add(&section.tag, section.owner.clone())?;
        }
        Ok(Self {
            sections,
            markers,
            locale,
        })
    }

    /// The sections, in order.
    #[must_use]
    pub fn sections(&self) -> &[SectionSpec] {
        &self.sections
    }

    /// The message of a section that shows `body` for the first time.
    ///
    /// # Errors
    /// [`SampleError`] when an attribute is malformed or the message is above
    /// the section's ceiling (WS-14): it is refused, never cut.
    pub fn wrap(&self, section: &SectionSpec, body: &Body) -> Result<String, SampleError> {
        let error = |reason: String| SampleError {
            section: section.id.clone(),
            code: section.error_code(),
            reason,
        };
        let quoted;
        let inside = if self.begins_with_notice(&body.text) {
            quoted = format!("> {}", body.text.trim_start());
            &quoted
        } else {
            &body.text
        };
        let wrapped = self.markers.wrap(&section.tag, &body.attributes, inside);
        let text = wrapped.map_err(|e| error(e.to_string()))?;
        let tokens = estimate_tokens(&text);
        if tokens > section.max_tokens {
            let limit = section.max_tokens;
            return Err(error(format!(
                "it has about {tokens} tokens; at most {limit} are allowed, and it is never cut"
            )));
        }
        Ok(text)
    }

    /// Whether a body begins as the host's own notices do; then it is quoted
    /// (WS-12), so that no reader takes it for one.
    fn begins_with_notice(&self, body: &str) -> bool {
        let body = body.trim_start();
        let mut notices = self
            .sections
            .iter()
            .flat_map(|section| section.notices.all());
        notices.any(|n| body.starts_with(&n.replaced) || body.starts_with(&n.expired))
    }

    /// What has to be sent so that the conversation `items` shows `bodies`,
    /// which are in the order of the sections. Nothing is changed; see [`Sample::commit`].
    ///
    /// # Errors
    /// [`SampleError`] of the first section that cannot be sent.
    pub fn diff(
        &self,
        bodies: &[SampledBody],
        baseline: &Baseline,
        items: &[Item],
        id: &SampleId,
    ) -> Result<Sample, SampleError> {
        let retained = RetainedSections::scan(items, &self.sections);
        let mut sample = Sample {
            emissions: Vec::new(),
            next: baseline.clone(),
        };
        for (section, body) in self.sections.iter().zip(bodies) {
            let now = match body {
                SampledBody::Present(body) => Some(self.wrap(section, body)?),
                SampledBody::Absent => None,
                SampledBody::Unchanged => continue,
            };
            let before = baseline.0.get(&section.id).map(Option::as_deref);
            if let Some(text) =
                self.announce(section, before, retained.get(&section.id), now.as_deref())
            {
                sample.emissions.push(Emission {
                    message_id: id.message_id(&section.id),
                    section: section.id.clone(),
                    text,
                });
            }
            sample.next.0.insert(section.id.clone(), now);
        }
        Ok(sample)
    }

    /// The table of WS-6, with WS-8 for a section whose last message says that
    /// it is gone. `before` is what the baseline knows: nothing after a restart.
    fn announce(
        &self,
        section: &SectionSpec,
        before: Option<Option<&str>>,
        there: Option<Presence>,
        now: Option<&str>,
    ) -> Option<String> {
        let notices = section.notices.for_locale(&self.locale);
        match (there, now) {
            (None, Some(body)) => Some(body.to_owned()),
            (None | Some(Presence::Expired), None) => None,
            (Some(Presence::Body), Some(body)) if before == Some(Some(body)) => None,
            (Some(_), Some(body)) => Some(match notices {
                Some(notices) => format!("{}\n\n{body}", notices.replaced),
                None => body.to_owned(),
            }),
            (Some(Presence::Body), None) => notices.map(|notices| notices.expired.clone()),
        }
    }
}
