//! The next request of a session that nobody has open (CE-22).

use crate::compose::Composition;
use crate::conversation::InMemoryConversation;
use crate::error::SessionError;
use crate::host::Host;
use crate::record::Frame;
use crate::spill;
use sectile_prompt::{Baseline, SampleId};
use sectile_store::{SessionId, SessionStore};

/// The next request of `session` as a new process would send it: it reads what
/// is stored, takes no lease and keeps nothing of its sample.
///
/// # Errors
/// Those of the store, of the sections and of the engine.
pub fn preview(
    host: &mut Host,
    store: &dyn SessionStore,
    session: &SessionId,
    message: Option<&str>,
) -> Result<Composition, SessionError> {
    let loaded = store.load(session)?;
    if let Some((_, call)) = store.last_call(session)? {
        host.set_model(&call.provider, Frame::load(store, &call)?.model);
    }
    let mut seen = loaded.conversation;
    seen.spill_folder = Some(spill::folder(session));
    let mut conversation = InMemoryConversation::resume(seen, Baseline::default());
    host.compose(&mut conversation, message, &SampleId::preview())
}
