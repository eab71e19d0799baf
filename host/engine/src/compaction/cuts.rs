//! Where a conversation may be cut (CP-2): never between a call and its
//! results, never before a result.

use sectile_model::{BlockKind, Item, Role};
use std::collections::BTreeSet;

/// Places at which `items` may be cut, in order: a cut at `n` keeps
/// `items[n..]`. 0 and the end are always among them.
#[must_use]
pub fn legal_cuts(items: &[Item]) -> Vec<usize> {
    let mut legal = vec![true; items.len() + 1];
    let mut open: BTreeSet<&str> = BTreeSet::new();
    // Place of the call whose results may still come.
    let mut group = 0;
    for (n, item) in items.iter().enumerate() {
        match item.message.role {
            Role::Assistant => {
                group = n;
                open = calls(item).collect();
            }
            Role::Tool => {
                forbid(&mut legal, n, n);
                if results(item).any(|id| open.contains(id)) {
                    // Whatever stands between a call and its result stays with them.
                    forbid(&mut legal, group + 1, n);
                }
            }
            Role::User | Role::System => {}
        }
    }
    let places = legal.into_iter().enumerate();
    places
        .filter_map(|(n, is_legal)| is_legal.then_some(n))
        .collect()
}

/// The nearest place that keeps at least the last `n` items.
#[must_use]
pub fn keep_last(items: &[Item], n: usize) -> usize {
    let wanted = items.len().saturating_sub(n);
    let cuts = legal_cuts(items);
    cuts.into_iter()
        .rev()
        .find(|cut| *cut <= wanted)
        .unwrap_or(0)
}

/// 0 stays legal: nothing is cut there.
fn forbid(legal: &mut [bool], from: usize, to: usize) {
    let range = legal.get_mut(from.max(1)..=to);
    range.into_iter().flatten().for_each(|place| *place = false);
}

fn calls(item: &Item) -> impl Iterator<Item = &str> {
    item.message.content.iter().filter_map(|b| match &b.kind {
        BlockKind::ToolCall(call) => Some(call.id.as_str()),
        _ => None,
    })
}

fn results(item: &Item) -> impl Iterator<Item = &str> {
    item.message.content.iter().filter_map(|b| match &b.kind {
        BlockKind::ToolResult(result) => Some(result.call_id.as_str()),
        _ => None,
    })
}
