//! An answer: its head, and its body piece by piece.

use crate::error::TransportError;
use bytes::Bytes;

/// Where the pieces come from.
pub(crate) trait Body: Send {
    /// The next piece; `None` at the end.
    fn next(&mut self, cancelled: &dyn Fn() -> bool) -> Result<Option<Bytes>, TransportError>;
}

/// An answer. Dropping it closes what is not read.
pub struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Box<dyn Body>,
}

impl Response {
    /// The status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The headers, names in lower case.
    #[must_use]
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The type of the body.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        let found = self.headers.iter().find(|(name, _)| name == "content-type");
        found.map(|(_, value)| value.as_str())
    }

    /// The next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// [`TransportError`]; `cancelled` is asked at least every 50 ms.
    pub fn next_chunk(
        &mut self,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Bytes>, TransportError> {
        self.body.next(cancelled)
    }
}
