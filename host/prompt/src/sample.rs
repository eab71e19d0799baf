//! What of the World State has to be sent (WS-2 to WS-9): a state machine that
//! gets everything it depends on and changes nothing.

use crate::notice::NoticeTexts;
use crate::retained::{Retained, RetainedSections};
use crate::section::{Body, OnError, SectionSpec};
use crate::world_state::WorldState;
use sectile_engine::estimate_tokens;
use sectile_model::{
    BlockKind, Item, Message, MessageKind, Origin, PluginId, Role, SectionId, SectionSource,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What came of rendering one section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It rendered. A body without visible text counts as absent: no message
    /// is sent that says nothing.
    Present(Body),
    /// It has nothing to say now.
    Absent,
    /// It could not be rendered, and why.
    Failed(String),
}

/// Which sample a message belongs to (WS-2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleId {
    /// The turn.
    pub turn: String,
    /// The model call within the turn, from 1.
    pub model_call: u32,
    /// The sample within the model call: 1, or 2 after a compaction (WS-4).
    pub sample: u32,
}

impl SampleId {
    /// Of a sample that nobody keeps (CE-22).
    #[must_use]
    pub fn preview() -> Self {
        Self {
            turn: "preview".to_owned(),
            model_call: 1,
            sample: 1,
        }
    }

    fn message_id(&self, section: &SectionId) -> String {
        let Self {
            turn,
            model_call,
            sample,
        } = self;
        format!("world-state:{turn}:{model_call}:{sample}:{section}")
    }
}

/// One message to be written and then appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emission {
    /// Whose it is.
    pub source: Arc<SectionSource>,
    /// Its id; writing it twice under this id is one message.
    pub message_id: String,
    /// Its text.
    pub text: String,
}

impl Emission {
    /// The section it renders.
    #[must_use]
    pub fn section(&self) -> &SectionId {
        &self.source.section
    }

    /// The conversation's item, before the store has given it a sequence.
    #[must_use]
    pub fn item(&self) -> Item {
        let text = BlockKind::Text {
            text: self.text.clone(),
        };
        Item {
            kind: MessageKind::WorldState,
            origin: Origin::Real {
                message_id: Some(self.message_id.clone()),
                sequence: None,
            },
            message: Arc::new(Message {
                role: Role::User,
                content: vec![text.into()],
            }),
            source: Some(Arc::clone(&self.source)),
        }
    }
}

/// What was sampled last, by section: the body in full with its marker, or that
/// there was none. Lives in memory only: after a restart nothing is known (WS-9).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline(BTreeMap<SectionId, Option<Arc<str>>>);

/// The messages of one sample. The baseline moves only when they have been
/// written (WS-3): dropping a sample leaves everything as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "write the messages, then commit the sample"]
pub struct Sample {
    /// The messages, in the order of the sections, never merged.
    pub emissions: Vec<Emission>,
    /// The sections that failed and count as unchanged, for the log and for
    /// `inspect` (WS-5).
    pub omitted: Vec<SampleError>,
    next: Baseline,
}

impl Sample {
    /// The baseline after every message was written and appended.
    #[must_use]
    pub fn commit(self) -> Baseline {
        self.next
    }
}

/// A section that cannot be sampled (WS-5).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the section `{section}` of `{plugin}` cannot be sampled: {reason}")]
pub struct SampleError {
    /// The section.
    pub section: SectionId,
    /// Its plugin.
    pub plugin: PluginId,
    /// The code with which the turn ends.
    pub code: String,
    /// What is wrong.
    pub reason: String,
}

impl SampleError {
    /// The section's code: stable, but not the same for every section.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }
}

impl WorldState {
    /// What has to be sent so that the conversation `items` shows what was
    /// rendered. `outcomes` has every enabled section; one that is missing
    /// counts as failed.
    ///
    /// # Errors
    /// [`SampleError`] of the first section, in their order, that failed or
    /// broke a rule of the host, unless the operator lets it be omitted.
    pub fn diff(
        &self,
        outcomes: &BTreeMap<SectionId, Outcome>,
        baseline: &Baseline,
        items: &[Item],
        id: &SampleId,
    ) -> Result<Sample, SampleError> {
        let retained = RetainedSections::scan(items, self);
        let mut sample = Sample {
            emissions: Vec::new(),
            omitted: Vec::new(),
            next: Baseline::default(),
        };
        for spec in self.sections() {
            let known = baseline.0.get(spec.id());
            let now = match self.body_of(spec, outcomes.get(spec.id())) {
                Ok(now) => now,
                Err(error) if spec.on_error == OnError::Omit => {
                    sample.omitted.push(error);
                    let Some(unchanged) = known else {
                        continue;
                    };
                    unchanged.clone()
                }
                Err(error) => return Err(error),
            };
            let text = announce(
                retained.get(spec.id()),
                known.and_then(Option::as_deref),
                now.as_deref(),
                spec.notices.get(self.locale()),
            );
            sample.emissions.extend(text.map(|text| Emission {
                source: Arc::clone(&spec.source),
                message_id: id.message_id(spec.id()),
                text,
            }));
            sample.next.0.insert(spec.id().clone(), now);
        }
        Ok(sample)
    }

    /// The full text that stands for `outcome`, `None` when the section is absent.
    fn body_of(
        &self,
        spec: &SectionSpec,
        outcome: Option<&Outcome>,
    ) -> Result<Option<Arc<str>>, SampleError> {
        let error = |reason: String| SampleError {
            section: spec.id().clone(),
            plugin: spec.plugin().clone(),
            code: spec.error_code(),
            reason,
        };
        let body = match outcome {
            Some(Outcome::Present(body)) if body.text.trim().is_empty() => return Ok(None),
            Some(Outcome::Present(body)) => body,
            Some(Outcome::Absent) => return Ok(None),
            Some(Outcome::Failed(reason)) => return Err(error(reason.clone())),
            None => return Err(error("it was not rendered".to_owned())),
        };
        let text = self.wrap(spec, body).map_err(|e| error(e.to_string()))?;
        let (tokens, limit) = (estimate_tokens(&text), spec.max_tokens.get());
        if tokens > limit {
            return Err(error(format!(
                "it has about {tokens} tokens and may have {limit}; it is never cut, shorten its source"
            )));
        }
        Ok(Some(text.into()))
    }
}

/// The table of WS-6, with WS-8 for a section whose last message is its expiry
/// notice. The baseline counts only as long as the conversation shows the same:
/// after a rewind it can show an older body.
fn announce(
    retained: Option<Retained<'_>>,
    before: Option<&str>,
    now: Option<&str>,
    notice: &NoticeTexts,
) -> Option<String> {
    match (retained, now) {
        (None, Some(body)) => Some(body.to_owned()),
        (Some(Retained::Body(shown)), Some(body)) if shown == body && before == now => None,
        (Some(_), Some(body)) => Some(format!("{}\n\n{body}", notice.replaced)),
        (Some(Retained::Body(_)), None) => Some(notice.expired.clone()),
        (Some(Retained::Expired) | None, None) => None,
    }
}

#[cfg(test)]
mod session_lives;
#[cfg(test)]
mod tests;
