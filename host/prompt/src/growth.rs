//! How much of the conversation is World State that no longer holds (WS-10a).

use crate::retained::{Retained, recognise};
use crate::world_state::WorldState;
use sectile_engine::estimate_tokens;
use sectile_model::{Item, SectionId};

/// Changes since the last compaction above which a section gets a hint.
const MANY_CHANGES: u64 = 20;

/// World State in a conversation. Superseded messages stay until the next
/// compaction, since the prefix is worth more than their tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Growth {
    /// Estimated tokens of all World State messages.
    pub tokens: u64,
    /// Estimated tokens of those that a later one of their section supersedes.
    pub superseded_tokens: u64,
    /// Each section that has messages, in the order of the sections.
    pub sections: Vec<SectionGrowth>,
}

/// World State of one section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionGrowth {
    /// The section.
    pub section: SectionId,
    /// Its messages.
    pub messages: u64,
    /// How often a message said something else than the one before. A section
    /// that is sent again after a restart has not changed.
    pub changes: u64,
    /// Estimated tokens of its superseded messages.
    pub superseded_tokens: u64,
}

impl Growth {
    /// Per cent of a conversation of so many tokens that no longer hold, rounded down.
    #[must_use]
    pub fn superseded_percent(&self, conversation_tokens: u64) -> u64 {
        let parts = self.superseded_tokens.saturating_mul(100);
        parts.checked_div(conversation_tokens).unwrap_or(0).min(100)
    }
}

impl SectionGrowth {
    /// What to tell the operator when the section changes too often.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let Self {
            section, changes, ..
        } = self;
        (*changes > MANY_CHANGES).then(|| {
            format!(
                "the section `{section}` changed {changes} times since the last compaction; \
                 compact the session, or make the section depend on less"
            )
        })
    }
}

impl WorldState {
    /// Measures `items`, the conversation since the last compaction.
    #[must_use]
    pub fn growth(&self, items: &[Item]) -> Growth {
        let shown: Vec<_> = items
            .iter()
            .filter_map(|item| {
                let (section, says) = recognise(item, self)?;
                Some((section, says, estimate_tokens(&*item.message)))
            })
            .collect();
        let mut growth = Growth::default();
        for spec in self.sections() {
            let own = shown.iter().filter(|(section, ..)| *section == spec.id());
            let own: Vec<_> = own.map(|(_, says, tokens)| (*says, *tokens)).collect();
            growth.tokens += own.iter().map(|(_, tokens)| tokens).sum::<u64>();
            growth.sections.extend(of_section(spec.id(), &own));
        }
        let superseded = growth.sections.iter().map(|own| own.superseded_tokens);
        growth.superseded_tokens = superseded.sum();
        growth
    }
}

fn of_section(section: &SectionId, messages: &[(Retained<'_>, u64)]) -> Option<SectionGrowth> {
    let (_last, superseded) = messages.split_last()?;
    let pairs = messages.iter().zip(messages.iter().skip(1));
    Some(SectionGrowth {
        section: section.clone(),
        messages: messages.len() as u64,
        changes: pairs.filter(|((a, _), (b, _))| a != b).count() as u64,
        superseded_tokens: superseded.iter().map(|(_, tokens)| tokens).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body_of, enabled, notice_of, rendered, user};

    #[test]
    fn ws_10a_every_message_but_the_last_of_a_section_is_superseded() {
        let items = [
            rendered(&body_of("agents", "one")),
            rendered(&body_of("git", "clean")),
            user(&body_of("agents", "typed")),
            rendered(&format!(
                "{}\n\n{}",
                notice_of("agents").replaced,
                body_of("agents", "two")
            )),
            rendered(&notice_of("agents").expired),
        ];
        let tokens = |n: usize| estimate_tokens(&*items[n].message);
        let growth = enabled().growth(&items);
        assert_eq!(growth.tokens, tokens(0) + tokens(1) + tokens(3) + tokens(4));
        assert_eq!(growth.superseded_tokens, tokens(0) + tokens(3));
        let counts: Vec<_> = growth
            .sections
            .iter()
            .map(|s| (s.section.as_str(), s.messages, s.changes))
            .collect();
        assert_eq!(counts, [("project/AGENTS.md", 3, 2), ("acme/git", 1, 0)]);
    }

    #[test]
    fn ws_10a_the_twenty_first_change_gets_a_hint() {
        let changed = |changes: usize| {
            let items: Vec<_> = (0..=changes)
                .map(|n| rendered(&body_of("git", &n.to_string())))
                .collect();
            enabled().growth(&items).sections[0].hint()
        };
        assert_eq!(changed(20), None);
        let hint = changed(21).unwrap();
        assert!(
            hint.contains("acme/git") && hint.contains("21 times"),
            "{hint}"
        );
    }

    #[test]
    fn ws_10a_what_a_restart_sends_again_is_superseded_and_no_change() {
        let body = body_of("git", "clean");
        let again = format!("{}\n\n{body}", notice_of("git").replaced);
        let growth = enabled().growth(&[rendered(&body), rendered(&again)]);
        assert_eq!(
            (growth.sections[0].messages, growth.sections[0].changes),
            (2, 0)
        );
        assert!(growth.superseded_tokens > 0);
    }

    #[test]
    fn ws_10a_the_share_is_of_the_conversation() {
        let growth = Growth {
            superseded_tokens: 299,
            ..Growth::default()
        };
        assert_eq!(growth.superseded_percent(1000), 29);
        assert_eq!(growth.superseded_percent(0), 0);
        assert_eq!(growth.superseded_percent(1), 100);
    }
}
