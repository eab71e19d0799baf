//! What a compaction looks at: the request copy without World State, which is
//! sampled again afterwards (CP-3).

use crate::EngineError;
use crate::prepare::{ContextInput, PreparedModelCall, prepare};
use sectile_model::{Conversation, Item, MessageKind, ModelCapabilities, Sequence};

/// The request copy of `items`, with results pruned through `watermark`. The
/// model is taken to accept data: what it does not take must not keep a
/// conversation from being compacted.
pub(super) fn view(
    input: &ContextInput<'_>,
    items: &[Item],
    watermark: Option<Sequence>,
) -> Result<PreparedModelCall, EngineError> {
    let spoken = items
        .iter()
        .filter(|item| item.kind != MessageKind::WorldState);
    let conversation = Conversation {
        pruned_through_sequence: watermark,
        items: spoken.cloned().collect(),
        spill_folder: input.conversation.spill_folder.clone(),
    };
    let model = ModelCapabilities {
        accepts_data: true,
        ..input.model.clone()
    };
    prepare(&ContextInput {
        model: &model,
        system: &[],
        tools: &[],
        conversation: &conversation,
        ..input.clone()
    })
}
