//! One answer, put together from the events of its decoder.

use sectile_model::{Block, FinishReason, Finished, ProviderEvent, Usage};
use std::collections::BTreeMap;

/// A whole answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// Its parts, in the order of the wire (PV-2).
    pub(crate) blocks: Vec<Block>,
    /// Why it ended.
    pub(crate) reason: FinishReason,
    /// The provider's word for that.
    pub(crate) raw_reason: Option<String>,
    /// What it cost.
    pub(crate) usage: Usage,
}

/// An answer that is coming in.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    blocks: BTreeMap<u32, Block>,
    finished: Option<Finished>,
    is_semantic: bool,
}

impl Incoming {
    /// Takes the next event.
    pub(crate) fn take(&mut self, event: ProviderEvent) {
        match event {
            ProviderEvent::BlockDone { part, block } => {
                self.is_semantic = true;
                self.blocks.insert(part, block);
            }
            ProviderEvent::Finished(finished) => self.finished = Some(finished),
            ProviderEvent::Usage(_) | ProviderEvent::Notice { .. } => {}
            ProviderEvent::TextDelta { .. }
            | ProviderEvent::ThinkingDelta { .. }
            | ProviderEvent::RefusalDelta { .. }
            | ProviderEvent::ToolCallStart { .. }
            | ProviderEvent::ToolCallDelta { .. } => self.is_semantic = true,
        }
    }

    /// Whether anything came that means something: then nothing is sent again
    /// (PV-8, SR-24).
    pub(crate) fn is_semantic(&self) -> bool {
        self.is_semantic
    }

    /// The whole answer, once it has ended.
    pub(crate) fn into_answer(self) -> Option<Answer> {
        let finished = self.finished?;
        Some(Answer {
            blocks: self.blocks.into_values().collect(),
            reason: finished.reason,
            raw_reason: finished.raw,
            usage: finished.usage,
        })
    }
}
