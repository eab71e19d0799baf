//! The conversation of a running session, and the only writer of it (SR-1).
//!
//! [`ChatState`] is an actor: a thread owns the items, the streaming draft and
//! the prune watermark, and everyone else holds a [`ChatHandle`]. It keeps what
//! it is given in order and refuses what cannot be part of a conversation; it
//! knows no model, no prompt, no tool and no file (SR-4).
//!
//! ```
//! use sectile_chat::ChatState;
//! use sectile_model::{BlockKind, Conversation, Item, Message, MessageKind, Origin, Role};
//! use std::sync::Arc;
//!
//! let chat = ChatState::start(Conversation::default())?;
//! let hello = BlockKind::Text { text: "hello".to_owned() };
//! chat.append(vec![Item {
//!     kind: MessageKind::Normal,
//!     origin: Origin::appended(),
//!     message: Arc::new(Message { role: Role::User, content: vec![hello.into()] }),
//!     source: None,
//! }])?;
//! assert_eq!(chat.view()?.items.len(), 1);
//! # Ok::<(), sectile_chat::ChatError>(())
//! ```

mod actor;
mod draft;
mod error;
mod rules;

pub use actor::{ChatHandle, ChatState};
pub use draft::{Draft, DraftDelta, DraftPart, PartKind};
pub use error::ChatError;
