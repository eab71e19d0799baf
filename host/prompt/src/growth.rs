//! How much of the conversation is World State that no longer holds (WS-10a).

use crate::retained::{first_text, recognise};
use crate::world_state::SectionSpec;
use sectile_engine::estimate_tokens;
use sectile_model::{Item, MessageKind, SectionId};

/// Changes after which a section is named with a hint.
const MANY_CHANGES: u64 = 20;

/// World State in a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Growth {
    /// Estimated tokens of messages that a later one of the same section supersedes.
    pub superseded_tokens: u64,
    /// Each section that has messages, in the order of the sections.
    pub sections: Vec<SectionGrowth>,
}

/// World State of one section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionGrowth {
    /// The section.
    pub section: SectionId,
    /// Its messages since the last compaction.
    pub messages: u64,
    /// Whether that is a number to look at.
    pub is_noisy: bool,
}

/// Measures `items`, which begin at the last compaction.
#[must_use]
pub fn growth(items: &[Item], sections: &[SectionSpec]) -> Growth {
    let mut growth = Growth::default();
    for section in sections {
        let of_section = |item: &&Item| {
            item.kind == MessageKind::WorldState
                && first_text(item).is_some_and(|text| recognise(section, text).is_some())
        };
        let messages: Vec<_> = items.iter().filter(of_section).collect();
        let superseded = messages.iter().rev().skip(1);
        growth.superseded_tokens += superseded
            .map(|item| estimate_tokens(&*item.message))
            .sum::<u64>();
        if !messages.is_empty() {
            growth.sections.push(SectionGrowth {
                section: section.id.clone(),
                messages: messages.len() as u64,
                is_noisy: messages.len() as u64 > MANY_CHANGES,
            });
        }
    }
    growth
}
