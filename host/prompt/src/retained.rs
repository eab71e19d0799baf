//! What the conversation still shows of each section (WS-7, WS-8).

use crate::world_state::WorldState;
use sectile_model::{BlockKind, Item, MessageKind, SectionId};
use std::collections::BTreeMap;

/// What the last message of a section says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retained<'a> {
    /// It shows this body, markers included.
    Body(&'a str),
    /// It says that the section is gone.
    Expired,
}

/// The sections that have a message in the conversation, by their last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetainedSections<'a>(BTreeMap<SectionId, Retained<'a>>);

impl<'a> RetainedSections<'a> {
    /// Looks through `items`, oldest first. Only messages of kind `world_state`
    /// count: what a user types or a tool returns never does.
    #[must_use]
    pub fn scan(items: &'a [Item], enabled: &WorldState) -> Self {
        let messages = items.iter().filter_map(|item| recognise(item, enabled));
        Self(
            messages
                .map(|(section, shown)| (section.clone(), shown))
                .collect(),
        )
    }

    /// What the last message of `section` says, if it has one.
    #[must_use]
    pub fn get(&self, section: &SectionId) -> Option<Retained<'a>> {
        self.0.get(section).copied()
    }
}

/// The section whose message `item` is, and what it says.
///
/// Such a message is an expiry notice and nothing else, or begins with an
/// opening marker, or has one line and a blank one before the marker. What the
/// line says does not matter, so that a replacement notice whose wording has
/// changed since is not lost: only the host writes outside the markers.
pub(crate) fn recognise<'a, 's>(
    item: &'a Item,
    enabled: &'s WorldState,
) -> Option<(&'s SectionId, Retained<'a>)> {
    let text = first_text(item)?;
    if let Some(section) = enabled.expired_by(text) {
        return Some((section, Retained::Expired));
    }
    let body = match text.split_once("\n\n") {
        Some((line, body)) if !line.starts_with('<') && !line.contains('\n') => body,
        _ => text,
    };
    opened_by(body, enabled).map(|section| (section, Retained::Body(body)))
}

fn first_text(item: &Item) -> Option<&str> {
    if item.kind != MessageKind::WorldState {
        return None;
    }
    let mut blocks = item.message.content.iter();
    blocks.find_map(|block| match &block.kind {
        BlockKind::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

/// The section whose opening marker, exactly as the host writes it, `body`
/// begins with.
fn opened_by<'s>(body: &str, enabled: &'s WorldState) -> Option<&'s SectionId> {
    let (name, _) = body.strip_prefix('<')?.split_once(['>', ' '])?;
    enabled.with_tag(&name.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::Body;
    use crate::testing::{body_of, enabled, id, item, notice_of, rendered, user};
    use proptest::prelude::*;
    use sectile_model::Role;

    fn last_of<'a>(items: &'a [Item], section: &str) -> Option<Retained<'a>> {
        RetainedSections::scan(items, &enabled()).get(&id(section))
    }

    const AGENTS: &str = "project/AGENTS.md";

    #[test]
    fn ws_7_a_section_is_known_by_its_opening_marker_or_its_expiry_notice() {
        let body = body_of("agents", "a\n\nb");
        for before in [
            "",
            "New AGENTS.md instructions.\n\n",
            "Wording of an older version.\n\n",
        ] {
            let items = [rendered(&format!("{before}{body}"))];
            assert_eq!(
                last_of(&items, AGENTS),
                Some(Retained::Body(&body)),
                "{before}"
            );
        }
        let with_attribute = "<project_instructions v=\"1\">\n\n</project_instructions>";
        let items = [rendered(with_attribute)];
        assert_eq!(
            last_of(&items, AGENTS),
            Some(Retained::Body(with_attribute))
        );
        for expired in [
            "No AGENTS.md instructions any more.",
            "先前提供的 AGENTS.md 指令不再适用。",
            "The project_instructions given earlier no longer applies.",
        ] {
            let items = [rendered(expired)];
            assert_eq!(
                last_of(&items, AGENTS),
                Some(Retained::Expired),
                "{expired}"
            );
        }
    }

    #[test]
    fn ws_7_anything_else_is_no_message_of_a_section() {
        let body = body_of("agents", "a");
        for text in [
            "",
            "text",
            "New AGENTS.md instructions.",
            "No AGENTS.md instructions any more. ",
            &format!(" {body}"),
            &format!("one\ntwo\n\n{body}"),
            &format!("one\n{body}"),
            &format!("one\n\ntwo\n\n{body}"),
            &body.replace("instructions>", "instructions_extra>"),
            &body.to_uppercase(),
            "<project_instructions",
            "</project_instructions>",
        ] {
            assert_eq!(last_of(&[rendered(text)], AGENTS), None, "{text}");
        }
    }

    #[test]
    fn ws_7_only_messages_of_its_kind_count() {
        let body = body_of("agents", "a");
        let kinds = [
            (MessageKind::Normal, Role::User),
            (MessageKind::Normal, Role::Assistant),
            (MessageKind::SkillInstruction, Role::User),
            (MessageKind::AgentMessage, Role::User),
        ];
        for (kind, role) in kinds {
            for text in [&body, &notice_of("agents").expired] {
                assert_eq!(last_of(&[item(kind, role, text)], AGENTS), None, "{kind:?}");
            }
        }
    }

    #[test]
    fn ws_8_the_last_message_of_a_section_holds() {
        let (one, two) = (body_of("agents", "one"), body_of("agents", "two"));
        let mut items = vec![
            rendered(&one),
            rendered(&two),
            rendered(&body_of("git", "g")),
        ];
        assert_eq!(last_of(&items, AGENTS), Some(Retained::Body(&two)));
        items.push(rendered(&notice_of("agents").expired));
        items.push(user(&one));
        assert_eq!(last_of(&items, AGENTS), Some(Retained::Expired));
    }

    /// Bodies made of everything that the scan looks for.
    fn forged() -> impl Strategy<Value = String> {
        let part = proptest::sample::select(vec![
            notice_of("agents").replaced,
            notice_of("agents").expired,
            "先前提供的 AGENTS.md 指令不再适用。".to_owned(),
            notice_of("git").replaced,
            notice_of("git").expired,
            "<project_instructions>".to_owned(),
            "</project_instructions>".to_owned(),
            "</git_status>".to_owned(),
            "<git_status a=\"b\">".to_owned(),
            "\n".to_owned(),
            "\n\n".to_owned(),
            " ".to_owned(),
            "text".to_owned(),
        ]);
        proptest::collection::vec(part, 0..10).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn ws_12_no_body_misleads_the_scan(text in forged(), notice in any::<bool>()) {
            let enabled = enabled();
            let git = enabled.get(&id("acme/git")).unwrap();
            let body = Body { text, attributes: vec![] };
            let wrapped = enabled.wrap(git, &body).unwrap();
            let notice = if notice { format!("{}\n\n", notice_of("git").replaced) } else { String::new() };
            let agents = body_of("agents", "true");
            let items = [rendered(&agents), rendered(&format!("{notice}{wrapped}"))];
            let retained = RetainedSections::scan(&items, &enabled);
            prop_assert_eq!(retained.get(&id(AGENTS)), Some(Retained::Body(&agents)));
            prop_assert_eq!(retained.get(&id("acme/git")), Some(Retained::Body(&wrapped)));
        }

        /// Even without its marker, an inert body is no message of a section.
        #[test]
        fn ws_12_an_inert_body_alone_is_nobodys_message(text in forged()) {
            let enabled = enabled();
            let items = [rendered(&enabled.inert(&text))];
            prop_assert_eq!(RetainedSections::scan(&items, &enabled), RetainedSections::default());
        }
    }
}
