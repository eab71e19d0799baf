//! Telling clients which of their lists are no longer true.

use crate::served::Lists;
use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::watch::Receiver;

/// Tells a client of an older revision, which hears of every change, for as
/// long as it is there.
pub(crate) async fn tell(mut lists: Receiver<Lists>, peer: Peer<RoleServer>) {
    let mut seen = *lists.borrow_and_update();
    while lists.changed().await.is_ok() {
        let now = *lists.borrow_and_update();
        if now.tools != seen.tools && peer.notify_tool_list_changed().await.is_err() {
            return;
        }
        if now.resources != seen.resources && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        seen = now;
    }
}

/// Tells a client that asked for it, until it no longer does (revision 2026-07-28).
pub(crate) async fn answer(mut lists: Receiver<Lists>, subscription: SubscriptionContext) {
    let mut seen = *lists.borrow_and_update();
    let (sink, accepted) = (subscription.sink(), subscription.accepted());
    loop {
        tokio::select! {
            () = subscription.cancelled() => return,
            changed = lists.changed() => if changed.is_err() { return },
        }
        let now = *lists.borrow_and_update();
        let tools = now.tools != seen.tools && accepted.tools_list_changed == Some(true);
        let resources =
            now.resources != seen.resources && accepted.resources_list_changed == Some(true);
        if tools && sink.notify_tool_list_changed().await.is_err() {
            return;
        }
        if resources && sink.notify_resource_list_changed().await.is_err() {
            return;
        }
        seen = now;
    }
}
