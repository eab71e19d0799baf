//! A conversation: messages with their kind and origin.

use crate::{Digest, Message, PluginId, SectionId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Position of a persisted message in its session.
pub type Sequence = u64;

/// What a message is for. Everything but `Normal` is in the user's role and is
/// no user request (CE-17b).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// Visible to the user, and every assistant and tool message.
    Normal,
    /// The body of a skill that was selected.
    SkillInstruction,
    /// A message from another agent.
    AgentMessage,
    /// One full rendering of one section.
    WorldState,
}

/// Where a message came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Origin {
    /// It was appended to the conversation.
    Real {
        /// Its id, once persisted.
        message_id: Option<String>,
        /// Its position, once persisted.
        sequence: Option<Sequence>,
    },
    /// A compaction produced it.
    Synthetic {
        /// Which one.
        compaction_id: String,
        /// As what.
        reason: SyntheticReason,
    },
}

impl Origin {
    /// Of a message that was just appended.
    #[must_use]
    pub fn appended() -> Self {
        Self::Real {
            message_id: None,
            sequence: None,
        }
    }

    /// Position in the session, when persisted.
    #[must_use]
    pub fn sequence(&self) -> Option<Sequence> {
        match self {
            Self::Real { sequence, .. } => *sequence,
            Self::Synthetic { .. } => None,
        }
    }

    /// Id in the session, when persisted.
    #[must_use]
    pub fn message_id(&self) -> Option<&str> {
        match self {
            Self::Real { message_id, .. } => message_id.as_deref(),
            Self::Synthetic { .. } => None,
        }
    }
}

/// What a compaction made a message for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyntheticReason {
    /// The last user request, once more.
    LastUserRequestReplay,
    /// The summary.
    CompactionSummary,
    /// What is still running.
    SystemReminder,
}

/// The plugin whose section produced a text (CE-19).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionSource {
    /// The section.
    pub section: SectionId,
    /// The plugin that rendered it.
    pub plugin: PluginId,
    /// The plugin's version.
    pub version: String,
    /// SHA-256 of the component.
    pub digest: Digest,
}

/// One message of a conversation. Cloning shares the message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// What it is for.
    pub kind: MessageKind,
    /// Where it came from.
    pub origin: Origin,
    /// The message.
    pub message: Arc<Message>,
    /// The section it renders, when the host knows; not part of a document.
    #[serde(skip)]
    pub source: Option<Arc<SectionSource>>,
}

/// The committed messages of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// The watermark: results up to here may be pruned (CE-7).
    pub pruned_through_sequence: Option<Sequence>,
    /// The messages, oldest first.
    pub items: Vec<Item>,
    /// Where the full texts of pruned results are, when they were kept (CP-7b).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill_folder: Option<Arc<str>>,
}
