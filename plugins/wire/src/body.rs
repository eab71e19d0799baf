//! The body of an answer: a stream of events, or one JSON document (PV-7).

use crate::outbox::{protocol, truncated};
use crate::sse::{Frame, Framer, TooLong};
use sectile_sdk::provider::ProviderError;
use serde_json::Value;

/// Bytes that a document may have.
const MAX_DOCUMENT: usize = 64 << 20;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One whole piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// An event of a stream.
    Frame(Frame),
    /// The answer as one document.
    Document(Value),
}

/// Reads a body. What it is shows at its first character, since services
/// answer with a document where a stream was asked for and label either wrongly.
#[derive(Debug, Default)]
pub struct Body {
    kind: Kind,
    /// Bytes before the first character that says something.
    start: Vec<u8>,
}

#[derive(Debug, Default)]
enum Kind {
    #[default]
    Unknown,
    Stream(Framer),
    Document(Vec<u8>),
}

impl Body {
    /// The pieces that `chunk` completes, also those before what is an error.
    ///
    /// # Errors
    /// When the body or a line of it is too long.
    pub fn push(&mut self, chunk: &[u8], pieces: &mut Vec<Piece>) -> Result<(), ProviderError> {
        if !matches!(self.kind, Kind::Unknown) {
            return self.read(chunk, pieces);
        }
        self.start.extend_from_slice(chunk);
        if BOM.starts_with(&self.start) {
            return Ok(());
        }
        let text = self.start.strip_prefix(BOM).unwrap_or(&self.start);
        let text = text.trim_ascii_start().to_vec();
        self.kind = match text.first() {
            // White space says nothing, however much of it comes.
            None => {
                self.start = BOM.to_vec();
                return Ok(());
            }
            Some(b'{' | b'[') => Kind::Document(Vec::new()),
            Some(_) => Kind::Stream(Framer::default()),
        };
        self.start = Vec::new();
        self.read(&text, pieces)
    }

    /// What is left at the end of the body.
    ///
    /// # Errors
    /// When the document is no JSON, or a line of the stream is too long.
    pub fn finish(&mut self, pieces: &mut Vec<Piece>) -> Result<(), ProviderError> {
        match &mut self.kind {
            Kind::Unknown => Ok(()),
            Kind::Stream(framer) => frames(pieces, |frames| framer.finish(frames)),
            Kind::Document(bytes) => match serde_json::from_slice(bytes) {
                Ok(document) => {
                    pieces.push(Piece::Document(document));
                    Ok(())
                }
                Err(error) if error.is_eof() => Err(truncated()),
                Err(error) => Err(protocol(&format!("the answer is not JSON: {error}"))),
            },
        }
    }

    fn read(&mut self, chunk: &[u8], pieces: &mut Vec<Piece>) -> Result<(), ProviderError> {
        match &mut self.kind {
            Kind::Unknown => Ok(()),
            Kind::Stream(framer) => frames(pieces, |frames| framer.push(chunk, frames)),
            Kind::Document(bytes) if bytes.len() + chunk.len() > MAX_DOCUMENT => Err(protocol(
                &format!("the answer has more than {MAX_DOCUMENT} bytes"),
            )),
            Kind::Document(bytes) => {
                bytes.extend_from_slice(chunk);
                Ok(())
            }
        }
    }
}

fn frames(
    pieces: &mut Vec<Piece>,
    read: impl FnOnce(&mut Vec<Frame>) -> Result<(), TooLong>,
) -> Result<(), ProviderError> {
    let mut frames = Vec::new();
    let result = read(&mut frames);
    pieces.extend(frames.into_iter().map(Piece::Frame));
    result.map_err(|e| protocol(&e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pieces(chunks: &[&[u8]]) -> Result<Vec<Piece>, ProviderError> {
        let (mut body, mut pieces) = (Body::default(), Vec::new());
        for chunk in chunks {
            body.push(chunk, &mut pieces)?;
        }
        body.finish(&mut pieces)?;
        Ok(pieces)
    }

    #[test]
    fn pv_7_a_body_shows_what_it_is_at_its_first_character() {
        let frame = |data: &str| {
            Piece::Frame(Frame {
                event: String::new(),
                data: data.to_owned(),
            })
        };
        for (text, expected) in [
            ("{\"a\": 1}", vec![Piece::Document(json!({"a": 1}))]),
            (" \n\n [1]\n", vec![Piece::Document(json!([1]))]),
            ("\u{feff}{}", vec![Piece::Document(json!({}))]),
            ("\u{feff} \r\n data: x\n\n", vec![frame("x")]),
            (": hello\n\ndata: x\n\n", vec![frame("x")]),
            ("", vec![]),
            ("\u{feff}", vec![]),
            ("   \n ", vec![]),
        ] {
            let bytes = text.as_bytes();
            for at in 0..=bytes.len() {
                let (a, b) = bytes.split_at(at);
                assert_eq!(pieces(&[a, b]).unwrap(), expected, "{text:?} {at}");
            }
        }
    }

    #[test]
    fn pv_7_a_document_that_broke_off_is_truncated_and_a_wrong_one_is_not() {
        use sectile_sdk::provider::ErrorClass;
        let class = |text: &str| pieces(&[text.as_bytes()]).unwrap_err().class;
        assert_eq!(class("{\"a\": "), ErrorClass::Truncated);
        assert_eq!(class("{\"a\": ]"), ErrorClass::Protocol);
    }
}
