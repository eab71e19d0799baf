//! A conversation in memory, with the World State that was sent in it.

use sectile_model::{
    BlockKind, Conversation, Item, Message, MessageKind, Origin, Role, SectionId, Sequence,
};
use sectile_prompt::{Baseline, Outcome, SampleError, SampleId, WorldState};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A conversation in memory, with the World State that was sent in it.
#[derive(Debug, Clone, Default)]
pub struct InMemoryConversation {
    conversation: Conversation,
    baseline: Baseline,
    last: Sequence,
}

impl InMemoryConversation {
    /// The conversation as the engine takes it.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// One that goes on where `conversation` ends, with the World State of
    /// `baseline` in it.
    #[must_use]
    pub fn resume(conversation: Conversation, baseline: Baseline) -> Self {
        let last = conversation
            .items
            .iter()
            .filter_map(|i| i.origin.sequence());
        Self {
            last: last.max().unwrap_or(0),
            conversation,
            baseline,
        }
    }

    /// Appends a request of the user.
    pub fn ask(&mut self, text: &str) {
        let text = BlockKind::Text {
            text: text.to_owned(),
        };
        let item = Item {
            kind: MessageKind::Normal,
            origin: Origin::appended(),
            message: Arc::new(Message {
                role: Role::User,
                content: vec![text.into()],
            }),
            source: None,
        };
        self.append(item, format!("message:{}", self.last + 1));
    }

    /// Takes one sample of the World State and appends what changed; gives the
    /// sections that failed and count as unchanged.
    ///
    /// # Errors
    /// [`SampleError`]; nothing is appended then (WS-3).
    pub fn sample(
        &mut self,
        world: &WorldState,
        outcomes: &BTreeMap<SectionId, Outcome>,
        id: &SampleId,
    ) -> Result<Vec<SampleError>, SampleError> {
        let sample = world.diff(outcomes, &self.baseline, &self.conversation.items, id)?;
        for emission in &sample.emissions {
            self.append(emission.item(), emission.message_id.clone());
        }
        let omitted = sample.omitted.clone();
        self.baseline = sample.commit();
        Ok(omitted)
    }

    /// Forgets what was sent, as a restart of the process does (WS-9).
    pub fn restart(&mut self) {
        self.baseline = Baseline::default();
    }

    fn append(&mut self, mut item: Item, message_id: String) {
        self.last += 1;
        item.origin = Origin::Real {
            message_id: Some(message_id),
            sequence: Some(self.last),
        };
        self.conversation.items.push(item);
    }
}
