//! What stands in the place of what was replaced (CP-4, CP-14).

use crate::compaction::{CompactionError, Reminder};
use sectile_model::{BlockKind, Item, Message, MessageKind, Origin, Role, SyntheticReason};
use std::sync::Arc;

/// The last request of the user: from the user, or shown again by an earlier
/// compaction; nothing that the host said in the user's place.
///
/// # Errors
/// [`CompactionError::MissingLastUser`].
pub fn last_user_request(items: &[Item]) -> Result<&Item, CompactionError> {
    let is_request = |item: &&Item| {
        item.message.role == Role::User
            && item.kind == MessageKind::Normal
            && matches!(
                item.origin,
                Origin::Real { .. }
                    | Origin::Synthetic {
                        reason: SyntheticReason::LastUserRequestReplay,
                        ..
                    }
            )
    };
    let found = items.iter().rev().find(is_request);
    found.ok_or(CompactionError::MissingLastUser)
}

/// The items that a compaction puts first: the last request once more, the
/// summary, the reminder.
///
/// # Errors
/// [`CompactionError::MissingLastUser`].
pub fn head(
    items: &[Item],
    compaction_id: &str,
    summary: &str,
    reminder: &Reminder,
) -> Result<Vec<Item>, CompactionError> {
    let request = last_user_request(items)?;
    let synthetic = |reason, message| Item {
        kind: MessageKind::Normal,
        origin: Origin::Synthetic {
            compaction_id: compaction_id.to_owned(),
            reason,
        },
        message,
        source: None,
    };
    let text = |text: String| {
        Arc::new(Message {
            role: Role::User,
            content: vec![BlockKind::Text { text }.into()],
        })
    };
    Ok(vec![
        synthetic(
            SyntheticReason::LastUserRequestReplay,
            Arc::clone(&request.message),
        ),
        synthetic(SyntheticReason::CompactionSummary, text(summary.to_owned())),
        synthetic(SyntheticReason::SystemReminder, text(reminder.text())),
    ])
}
