//! The answer that is coming in: shown, and never stored (SR-23).

/// What kind of part a draft's part will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartKind {
    /// Text.
    Text,
    /// The model's thinking.
    Thinking,
    /// The model declines.
    Refusal,
    /// The arguments of a tool call.
    ToolCall {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
    },
}

/// A piece of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftDelta {
    /// Index of the part.
    pub part: u32,
    /// Its kind; counts when the part begins.
    pub kind: PartKind,
    /// The piece; may be empty.
    pub text: String,
}

/// One part, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftPart {
    /// Index of the part.
    pub part: u32,
    /// Its kind.
    pub kind: PartKind,
    /// Its text so far.
    pub text: String,
}

/// The answer, as far as it has come; parts in the order in which they began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The parts.
    pub parts: Vec<DraftPart>,
}

impl Draft {
    pub(crate) fn push(&mut self, delta: DraftDelta) {
        // The part that is being written is nearly always the last.
        let known = self.parts.iter_mut().rev().find(|p| p.part == delta.part);
        match known {
            Some(part) => part.text.push_str(&delta.text),
            None => self.parts.push(DraftPart {
                part: delta.part,
                kind: delta.kind,
                text: delta.text,
            }),
        }
    }
}
