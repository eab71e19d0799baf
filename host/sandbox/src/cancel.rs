//! A switch that ends running calls (PL-24).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by a call and whoever may cancel it. Cloning shares the switch.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A switch that is off.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends every call that holds this token, within one tick of the sandbox's
    /// clock (10 ms) and the host call it is in.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether [`CancelToken::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
