//! The thread that owns the conversation, and the handle on it.

use crate::draft::{Draft, DraftDelta};
use crate::error::ChatError;
use crate::rules::OpenCalls;
use sectile_model::{Conversation, Item, Sequence};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The conversation of one session. It lives on a thread of its own until the
/// last handle is dropped.
pub struct ChatState {
    conversation: Arc<Conversation>,
    open: OpenCalls,
    draft: Option<Draft>,
}

/// Talks to a [`ChatState`]. Cloning shares it.
#[derive(Clone)]
pub struct ChatHandle(Sender<Command>);

type Reply<T> = Sender<Result<T, ChatError>>;

enum Command {
    View(Reply<Arc<Conversation>>),
    Draft(Reply<Option<Draft>>),
    Delta(DraftDelta),
    DropDraft,
    Check(Vec<Item>, Reply<()>),
    Append(Vec<Item>, Reply<()>),
    AdvanceWatermark(Sequence, Reply<Option<Sequence>>),
    Replace(Conversation, Reply<()>),
}

impl ChatState {
    /// Starts with what was stored: all committed messages, or the projection
    /// that a compaction left (SR-5).
    ///
    /// # Errors
    /// [`ChatError::PersistedSystemMessage`], and [`ChatError::Gone`] when no
    /// thread can be started.
    pub fn start(conversation: Conversation) -> Result<ChatHandle, ChatError> {
        let state = Self {
            open: OpenCalls::load(&conversation.items)?,
            conversation: Arc::new(conversation),
            draft: None,
        };
        let (sender, receiver) = channel();
        let thread = thread::Builder::new().name("chat-state".to_owned());
        thread
            .spawn(move || state.serve(&receiver))
            .map_err(|_| ChatError::Gone)?;
        Ok(ChatHandle(sender))
    }

    fn serve(mut self, commands: &Receiver<Command>) {
        // An answer that nobody waits for any more is no fault.
        while let Ok(command) = commands.recv() {
            match command {
                Command::View(reply) => drop(reply.send(Ok(Arc::clone(&self.conversation)))),
                Command::Draft(reply) => drop(reply.send(Ok(self.draft.clone()))),
                Command::Delta(delta) => self.draft.get_or_insert_default().push(delta),
                Command::DropDraft => self.draft = None,
                Command::Check(items, reply) => {
                    drop(reply.send(self.open.after(&items).map(drop)));
                }
                Command::Append(items, reply) => drop(reply.send(self.append(items))),
                Command::AdvanceWatermark(to, reply) => drop(reply.send(Ok(self.advance(to)))),
                Command::Replace(conversation, reply) => {
                    drop(reply.send(self.replace(conversation)));
                }
            }
        }
    }

    fn append(&mut self, items: Vec<Item>) -> Result<(), ChatError> {
        self.open = self.open.after(&items)?;
        // A view that is still held keeps what it saw.
        Arc::make_mut(&mut self.conversation).items.extend(items);
        self.draft = None;
        Ok(())
    }

    fn advance(&mut self, to: Sequence) -> Option<Sequence> {
        let conversation = Arc::make_mut(&mut self.conversation);
        let watermark = &mut conversation.pruned_through_sequence;
        *watermark = (*watermark).max(Some(to));
        *watermark
    }

    fn replace(&mut self, mut conversation: Conversation) -> Result<(), ChatError> {
        self.open = OpenCalls::load(&conversation.items)?;
        // The watermark never goes back (CP-6).
        let watermark = &mut conversation.pruned_through_sequence;
        *watermark = (*watermark).max(self.conversation.pruned_through_sequence);
        self.conversation = Arc::new(conversation);
        Ok(())
    }
}

impl ChatHandle {
    /// The items and the watermark, without the draft, as they are now.
    ///
    /// # Errors
    /// [`ChatError::Gone`].
    pub fn view(&self) -> Result<Arc<Conversation>, ChatError> {
        self.ask(Command::View)
    }

    /// The answer that is coming in, if one is.
    ///
    /// # Errors
    /// [`ChatError::Gone`].
    pub fn draft(&self) -> Result<Option<Draft>, ChatError> {
        self.ask(Command::Draft)
    }

    /// Adds a piece to the draft.
    pub fn delta(&self, delta: DraftDelta) {
        // A draft is for showing; the turn does not depend on it.
        let _ = self.0.send(Command::Delta(delta));
    }

    /// Throws the draft away: the answer broke off.
    pub fn drop_draft(&self) {
        let _ = self.0.send(Command::DropDraft);
    }

    /// Whether [`ChatHandle::append`] would take `items`: what is stored first
    /// is checked before that.
    ///
    /// # Errors
    /// [`ChatError`] of the first item that cannot stand there.
    pub fn check(&self, items: Vec<Item>) -> Result<(), ChatError> {
        self.ask(|reply| Command::Check(items, reply))
    }

    /// Appends `items`, all or none. What is appended takes the draft's place.
    ///
    /// # Errors
    /// [`ChatError`] of the first item that cannot stand there.
    pub fn append(&self, items: Vec<Item>) -> Result<(), ChatError> {
        self.ask(|reply| Command::Append(items, reply))
    }

    /// Moves the prune watermark up to `to`, never back (CP-6), and gives where
    /// it stands.
    ///
    /// # Errors
    /// [`ChatError::Gone`].
    pub fn advance_watermark(&self, to: Sequence) -> Result<Option<Sequence>, ChatError> {
        self.ask(|reply| Command::AdvanceWatermark(to, reply))
    }

    /// Puts a projection in the place of what is there: a compaction or a
    /// rewind was installed.
    ///
    /// # Errors
    /// [`ChatError::PersistedSystemMessage`]; the conversation stays as it was then.
    pub fn replace(&self, conversation: Conversation) -> Result<(), ChatError> {
        self.ask(|reply| Command::Replace(conversation, reply))
    }

    fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, ChatError> {
        let (reply, answer) = channel();
        self.0.send(command(reply)).map_err(|_| ChatError::Gone)?;
        answer.recv().map_err(|_| ChatError::Gone)?
    }
}

#[cfg(test)]
mod tests;
