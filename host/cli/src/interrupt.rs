//! Signals: the first one cancels what runs, a second one ends the program (C4).

use crate::failure::Failure;
use sectile_sandbox::CancelToken;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Exit status of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Whatever runs now can be cancelled by a signal.
#[derive(Clone, Default)]
pub(crate) struct Interrupts(Arc<Mutex<Running>>);

#[derive(Default)]
struct Running {
    token: Option<CancelToken>,
}

impl Interrupts {
    /// Takes over the signals that ask a program to stop.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
            .map_err(|e| Failure::Stream(format!("signals cannot be received: {e}")))?;
        let interrupts = Self::default();
        let shared = interrupts.clone();
        thread::spawn(move || {
            for signal in signals.forever() {
                if !shared.cancel() {
                    std::process::exit(match signal {
                        SIGINT => INTERRUPTED,
                        other => 128 + other,
                    });
                }
            }
        });
        Ok(interrupts)
    }

    /// Runs `body` with a token that the next signal cancels.
    pub(crate) fn during<T>(&self, body: impl FnOnce(&CancelToken) -> T) -> T {
        let token = CancelToken::new();
        self.set(Some(token.clone()));
        let result = body(&token);
        self.set(None);
        result
    }

    fn set(&self, token: Option<CancelToken>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).token = token;
    }

    /// Whether there was something to cancel that was not cancelled already.
    fn cancel(&self) -> bool {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &running.token {
            Some(token) if !token.is_cancelled() => {
                token.cancel();
                true
            }
            _ => false,
        }
    }
}
