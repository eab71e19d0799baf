//! HTTP to providers of models (PV-8, PV-11).
//!
//! A [`Wire`] sends what an adapter encoded and gives the answer piece by
//! piece: [`Transport`] over the network, [`Recorder`] with a copy on the disk,
//! [`Replay`] from such a copy. Secrets are read when a request leaves and are
//! put into its headers only, towards the endpoint that names them (PL-16,
//! PL-17); nothing here prints one.
//!
//! Calls block. The asynchronous work runs on a thread of its own, and whoever
//! waits can be told to stop within 50 ms.

mod endpoint;
mod error;
mod record;
mod response;
mod retry;
mod secret;
mod transport;

pub use endpoint::{Endpoint, Timeouts};
pub use error::TransportError;
pub use record::{Recorder, Replay};
pub use response::Response;
pub use retry::{RetryPolicy, jitter, wait};
pub use secret::SecretSource;
pub use transport::Transport;

use sectile_model::HttpRequest;

/// A way to a provider.
pub trait Wire: Send + Sync {
    /// Sends `request` to `endpoint` and gives the answer when its head has come.
    ///
    /// # Errors
    /// [`TransportError`]; `cancelled` is asked at least every 50 ms.
    fn send(
        &self,
        endpoint: &Endpoint,
        request: &HttpRequest,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Response, TransportError>;

    /// `text` with every secret of `endpoint` replaced by its slot.
    fn redact(&self, endpoint: &Endpoint, text: &str) -> String {
        secret::redact(endpoint, text)
    }
}
