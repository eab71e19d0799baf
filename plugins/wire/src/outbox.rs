//! The events of one answer on their way to the host: exactly one end, and
//! nothing after it (PV-5).

use crate::body::{Body, Piece};
use crate::sse::Frame;
use sectile_sdk::provider::{ErrorClass, Event, Finished, ProviderError, Retry};
use serde_json::Value;

/// Collects events until the end.
#[derive(Debug, Default)]
pub struct Outbox {
    events: Vec<Event>,
    end: End,
}

#[derive(Debug, Default)]
enum End {
    #[default]
    Open,
    Finished,
    Failed(ProviderError),
}

impl Outbox {
    /// Adds `event`, unless the answer has ended.
    pub fn emit(&mut self, event: Event) {
        if self.is_open() {
            self.events.push(event);
        }
    }

    /// Adds a notice.
    pub fn notice(&mut self, notice: &Value) {
        self.emit(Event::Notice(notice.to_string()));
    }

    /// The answer came to its end.
    pub fn finish(&mut self, finished: Finished) {
        if self.is_open() {
            self.events.push(Event::Finished(finished));
            self.end = End::Finished;
        }
    }

    /// The answer failed.
    pub fn fail(&mut self, error: ProviderError) {
        if self.is_open() {
            self.end = End::Failed(error);
        }
    }

    /// Whether the answer has not ended.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.end, End::Open)
    }

    /// The events so far. An error waits until they are gone, or it would take
    /// more of them with it the larger the chunks are.
    fn take(&mut self) -> Result<Vec<Event>, ProviderError> {
        match &self.end {
            End::Failed(error) if self.events.is_empty() => Err(error.clone()),
            _ => Ok(std::mem::take(&mut self.events)),
        }
    }

    fn take_all(&mut self) -> Result<Vec<Event>, ProviderError> {
        match &self.end {
            End::Failed(error) => Err(error.clone()),
            _ => Ok(std::mem::take(&mut self.events)),
        }
    }
}

/// What one protocol makes of the pieces of an answer.
pub trait Protocol {
    /// An event of a stream.
    ///
    /// # Errors
    /// What the provider said, or why this cannot be.
    fn frame(&mut self, frame: &Frame, out: &mut Outbox) -> Result<(), ProviderError>;

    /// The answer as one document.
    ///
    /// # Errors
    /// What the provider said, or why this cannot be.
    fn document(&mut self, document: &Value, out: &mut Outbox) -> Result<(), ProviderError>;

    /// The body ended and no end came before.
    ///
    /// # Errors
    /// Of class [`ErrorClass::Truncated`], unless the end of the body is one.
    fn end(&mut self, _out: &mut Outbox) -> Result<(), ProviderError> {
        Err(truncated())
    }
}

/// Reads one answer by a protocol.
#[derive(Debug, Default)]
pub struct Reader<P> {
    body: Body,
    out: Outbox,
    protocol: P,
}

impl<P: Protocol> Reader<P> {
    /// A reader of one answer.
    pub fn new(protocol: P) -> Self {
        Self {
            body: Body::default(),
            out: Outbox::default(),
            protocol,
        }
    }

    /// The events that `chunk` completes.
    ///
    /// # Errors
    /// What ended the answer, once the events before it are handed over.
    pub fn push(&mut self, chunk: &[u8]) -> Result<Vec<Event>, ProviderError> {
        if self.out.is_open() {
            let mut pieces = Vec::new();
            let read = self.body.push(chunk, &mut pieces);
            self.read(&pieces, read);
        }
        self.out.take()
    }

    /// The body has ended.
    ///
    /// # Errors
    /// What ended the answer, the body's own end included.
    pub fn finish(&mut self) -> Result<Vec<Event>, ProviderError> {
        if self.out.is_open() {
            let mut pieces = Vec::new();
            let read = self.body.finish(&mut pieces);
            self.read(&pieces, read);
        }
        if self.out.is_open() {
            match self.protocol.end(&mut self.out) {
                Ok(()) => self.out.fail(truncated()),
                Err(error) => self.out.fail(error),
            }
        }
        self.out.take_all()
    }

    fn read(&mut self, pieces: &[Piece], read: Result<(), ProviderError>) {
        for piece in pieces {
            if !self.out.is_open() {
                return;
            }
            let done = match piece {
                Piece::Frame(frame) => self.protocol.frame(frame, &mut self.out),
                Piece::Document(document) => self.protocol.document(document, &mut self.out),
            };
            if let Err(error) = done {
                self.out.fail(error);
            }
        }
        if let Err(error) = read {
            self.out.fail(error);
        }
    }
}

/// The answer broke off before its end.
#[must_use]
pub fn truncated() -> ProviderError {
    error(
        ErrorClass::Truncated,
        Retry::Same,
        "the answer broke off before its end",
    )
}

/// The answer is not in the protocol.
#[must_use]
pub fn protocol(message: &str) -> ProviderError {
    error(ErrorClass::Protocol, Retry::Never, message)
}

/// The protocol has no form for the request.
#[must_use]
pub fn invalid(message: &str) -> ProviderError {
    error(ErrorClass::InvalidRequest, Retry::Never, message)
}

fn error(class: ErrorClass, retry: Retry, message: &str) -> ProviderError {
    ProviderError {
        class,
        message: message.to_owned(),
        retry,
        code: None,
        request_id: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage;
    use sectile_sdk::provider::FinishReason;

    /// Every frame is text; `end` ends, `fail` fails.
    struct Words;

    impl Protocol for Words {
        fn frame(&mut self, frame: &Frame, out: &mut Outbox) -> Result<(), ProviderError> {
            match frame.data.as_str() {
                "end" => out.finish(Finished {
                    reason: FinishReason::Stop,
                    raw: None,
                    usage: usage::unknown(),
                }),
                "fail" => return Err(protocol("failed")),
                text => out.emit(Event::TextDelta((0, text.to_owned()))),
            }
            Ok(())
        }

        fn document(&mut self, _: &Value, _: &mut Outbox) -> Result<(), ProviderError> {
            Ok(())
        }
    }

    fn read(chunks: &[&str]) -> (Vec<Event>, Option<ErrorClass>) {
        let (mut reader, mut events) = (Reader::new(Words), Vec::new());
        for chunk in chunks {
            match reader.push(chunk.as_bytes()) {
                Ok(more) => events.extend(more),
                Err(error) => return (events, Some(error.class)),
            }
        }
        match reader.finish() {
            Ok(more) => events.extend(more),
            Err(error) => return (events, Some(error.class)),
        }
        (events, None)
    }

    #[test]
    fn pv_5_nothing_comes_after_the_end() {
        let (events, error) = read(&[
            "data: a\n\ndata: end\n\ndata: b\n\ndata: fail\n\n",
            "data: end\n\n",
        ]);
        assert_eq!(error, None);
        assert_eq!(events.len(), 2);
        assert!(matches!(events[1], Event::Finished(_)));
    }

    #[test]
    fn pv_5_an_error_does_not_take_the_events_before_it() {
        let text = "data: a\n\ndata: fail\n\ndata: b\n\n";
        for at in 0..=text.len() {
            let (a, b) = text.split_at(at);
            let (events, error) = read(&[a, b]);
            assert_eq!(events, [Event::TextDelta((0, "a".to_owned()))], "{at}");
            assert_eq!(error, Some(ErrorClass::Protocol), "{at}");
        }
    }

    #[test]
    fn pv_5_without_an_end_the_answer_is_truncated() {
        assert_eq!(read(&["data: a\n\n"]).1, Some(ErrorClass::Truncated));
        assert_eq!(read(&[]).1, Some(ErrorClass::Truncated));
        assert_eq!(read(&["{}"]).1, Some(ErrorClass::Truncated));
    }
}
