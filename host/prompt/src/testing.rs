//! WorldState and messages that the tests of this crate share.

use crate::notice::{Locale, NoticeTexts, Notices};
use crate::section::{OnError, SectionSpec, TokenCap};
use crate::world_state::WorldState;
use sectile_model::{
    BlockKind, Digest, Item, Message, MessageKind, Origin, Role, SectionId, SectionSource,
};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn id(text: &str) -> SectionId {
    text.parse().unwrap()
}

/// A section without notices of its own that may not fail.
pub(crate) fn spec(section: &str, plugin: &str, tag: &str) -> SectionSpec {
    let tag = tag.parse().unwrap();
    SectionSpec {
        source: Arc::new(SectionSource {
            section: id(section),
            plugin: plugin.parse().unwrap(),
            version: "1.0.0".into(),
            digest: Digest::from_bytes([7; 32]),
        }),
        notices: Notices::new(&tag, BTreeMap::new()).unwrap(),
        tag,
        max_tokens: TokenCap::third_party(2000),
        on_error: OnError::Fail,
    }
}

/// The notices of AGENTS.md in both languages.
pub(crate) fn agents_notices() -> BTreeMap<Locale, NoticeTexts> {
    let notice = |replaced: &str, expired: &str| NoticeTexts {
        replaced: replaced.into(),
        expired: expired.into(),
    };
    [
        (
            "en".parse().unwrap(),
            notice(
                "New AGENTS.md instructions.",
                "No AGENTS.md instructions any more.",
            ),
        ),
        (
            "zh-CN".parse().unwrap(),
            notice(
                "以下 AGENTS.md 指令取代先前提供的全部 AGENTS.md 指令。",
                "先前提供的 AGENTS.md 指令不再适用。",
            ),
        ),
    ]
    .into()
}

/// `project/AGENTS.md` (`agents`), which has notices of its own, and `acme/git`
/// (`git`), which has none and may fail.
pub(crate) fn enabled() -> WorldState {
    let agents = SectionSpec {
        notices: Notices::new(&"project_instructions".parse().unwrap(), agents_notices()).unwrap(),
        ..spec(
            "project/AGENTS.md",
            "sectile/project",
            "project_instructions",
        )
    };
    let git = SectionSpec {
        on_error: OnError::Omit,
        ..spec("acme/git", "acme/git", "git_status")
    };
    WorldState::new(&[], vec![agents, git], &[], Locale::default()).unwrap()
}

fn named(short: &str) -> SectionSpec {
    let id = id(match short {
        "agents" => "project/AGENTS.md",
        _ => "acme/git",
    });
    enabled().get(&id).unwrap().clone()
}

/// The English notices of a section of [`enabled`].
pub(crate) fn notice_of(short: &str) -> NoticeTexts {
    named(short).notices.get(&Locale::default()).clone()
}

/// A body of a section of [`enabled`] in its marker.
pub(crate) fn body_of(short: &str, text: &str) -> String {
    let tag = named(short).tag;
    format!("<{tag}>\n{text}\n</{tag}>")
}

/// A message of the host that renders a section.
pub(crate) fn rendered(text: &str) -> Item {
    item(MessageKind::WorldState, Role::User, text)
}

/// A message that the user typed.
pub(crate) fn user(text: &str) -> Item {
    item(MessageKind::Normal, Role::User, text)
}

/// A message of one text.
pub(crate) fn item(kind: MessageKind, role: Role, text: &str) -> Item {
    let text = BlockKind::Text { text: text.into() };
    Item {
        kind,
        origin: Origin::appended(),
        message: Arc::new(Message {
            role,
            content: vec![text.into()],
        }),
        source: None,
    }
}
