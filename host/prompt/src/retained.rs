//! Which sections the conversation still shows (WS-7, WS-8).

use crate::world_state::SectionSpec;
use sectile_model::{BlockKind, Item, MessageKind, SectionId};
use std::collections::BTreeMap;

/// What the last message of a section said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It showed a body.
    Body,
    /// It said that the section is gone.
    Expired,
}

/// The sections that are still in the conversation, by what their last message said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetainedSections(BTreeMap<SectionId, Presence>);

impl RetainedSections {
    /// Looks through `items`. Only messages of kind `world_state` count: what a
    /// user types or a tool returns never does.
    #[must_use]
    pub fn scan(items: &[Item], sections: &[SectionSpec]) -> Self {
        let mut found = BTreeMap::new();
        for item in items
            .iter()
            .filter(|item| item.kind == MessageKind::WorldState)
        {
            let Some(text) = first_text(item) else {
                continue;
            };
            if let Some((section, presence)) =
                sections.iter().find_map(|s| Some((s, recognise(s, text)?)))
            {
                found.insert(section.id.clone(), presence);
            }
        }
        Self(found)
    }

    /// What the last message of `section` said, if one is still there.
    #[must_use]
    pub fn get(&self, section: &SectionId) -> Option<Presence> {
        self.0.get(section).copied()
    }
}

pub(crate) fn first_text(item: &Item) -> Option<&str> {
    item.message
        .content
        .iter()
        .find_map(|block| match &block.kind {
            BlockKind::Text { text } => Some(text.as_str()),
            _ => None,
        })
}

/// A message is a section's when it is exactly its expiry notice, or begins
/// with its opening marker, or with its replacement notice and then the marker.
pub(crate) fn recognise(section: &SectionSpec, text: &str) -> Option<Presence> {
    let mut notices = section.notices.all();
    if notices.any(|n| n.expired == text) {
        return Some(Presence::Expired);
    }
    let replaced = |n: &crate::notice::NoticeTexts| {
        opens(
            section,
            text.strip_prefix(&n.replaced)?.strip_prefix("\n\n")?,
        )
    };
    let is_body =
        opens(section, text).is_some() || section.notices.all().any(|n| replaced(n).is_some());
    is_body.then_some(Presence::Body)
}

fn opens(section: &SectionSpec, text: &str) -> Option<()> {
    let rest = text.strip_prefix('<')?.strip_prefix(section.tag.as_str())?;
    rest.starts_with(['>', ' ']).then_some(())
}
