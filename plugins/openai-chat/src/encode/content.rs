//! Content as the protocol prints it: one text, or a list of parts.

use super::Context;
use crate::capabilities::IMAGES;
use sectile_sdk::provider::{BlockKind, DataBlock, DataSource, ResultContent};
use sectile_wire::data::{self, Kind};
use sectile_wire::turns::{Answer, Piece};
use serde_json::{Map, Value, json};

/// Between texts that were apart.
const GAP: &str = "\n\n";

/// Content that grows part by part.
#[derive(Debug, Default)]
pub(super) struct Content {
    parts: Vec<Value>,
    /// A prompt cache may end behind it.
    pub(super) hint: bool,
}

impl Content {
    pub(super) fn text(&mut self, text: &str) {
        self.parts.push(json!({"type": "text", "text": text}));
    }

    pub(super) fn part(&mut self, part: Value) {
        self.parts.push(part);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn into_parts(self) -> Vec<Value> {
        self.parts
    }

    /// Adds `mark` to the last part under `key`.
    pub(super) fn mark(&mut self, key: &str, mark: &Value) {
        if let Some(Value::Object(part)) = self.parts.last_mut() {
            part.insert(key.to_owned(), mark.clone());
        }
    }

    /// Texts alone are one text, which every service understands.
    pub(super) fn into_json(self) -> Value {
        let texts: Option<Vec<_>> = self.parts.iter().map(only_text).collect();
        match texts {
            Some(texts) => Value::from(texts.join(GAP)),
            None => Value::Array(self.parts),
        }
    }
}

/// The text of a part that is nothing but text.
fn only_text(part: &Value) -> Option<&str> {
    let is_plain = part.as_object().is_some_and(|part| part.len() == 2);
    part.get("text")
        .and_then(Value::as_str)
        .filter(|_| is_plain)
}

impl Context<'_> {
    /// What the user says.
    pub(super) fn user_content(&mut self, pieces: &[Piece]) -> Content {
        let mut content = Content::default();
        for piece in pieces {
            match &piece.block.kind {
                BlockKind::Text(text) => content.text(text),
                BlockKind::Data(data) => content.part(self.data(data)),
                _ => {}
            }
            content.hint |= piece.cache_hint;
        }
        content
    }

    /// The text of a result, never empty, and the data that belongs to it.
    pub(super) fn answer(&mut self, answer: &Answer) -> (String, Vec<Value>) {
        let (mut texts, mut carried) = (Vec::new(), Vec::new());
        for part in answer.result.map_or(&[][..], |result| &result.content) {
            match part {
                ResultContent::Text(text) if text.trim().is_empty() => {}
                ResultContent::Text(text) => texts.push(text.clone()),
                ResultContent::Data(data) => {
                    let part = self.data(data);
                    match only_text(&part) {
                        Some(text) => texts.push(text.to_owned()),
                        None => {
                            let why = "a result takes no data, the user shows it after the results";
                            self.notes.moved("messages", why);
                            carried.push(part);
                        }
                    }
                }
            }
        }
        if texts.is_empty() {
            let text = if carried.is_empty() {
                answer.fallback()
            } else {
                "(the data follows)"
            };
            texts.push(text.to_owned());
        }
        (texts.join("\n"), carried)
    }

    fn data(&mut self, block: &DataBlock) -> Value {
        let media_type = data::media_type(block);
        self.data_part(block, &media_type).unwrap_or_else(|| {
            let why = format!("{media_type} is not taken, a note stands in its place");
            self.notes.approximated("messages", &why);
            json!({"type": "text", "text": data::placeholder(block)})
        })
    }

    fn data_part(&self, block: &DataBlock, media_type: &str) -> Option<Value> {
        let dialect = &self.dialect;
        match (data::kind(media_type), &block.source) {
            (Kind::Image, DataSource::Url(url)) if dialect.images => {
                Some(json!({"type": "image_url", "image_url": {"url": url.url}}))
            }
            (Kind::Image, DataSource::Inline(inline))
                if dialect.images && IMAGES.contains(&media_type) && !inline.bytes.is_empty() =>
            {
                let url = data::data_url(media_type, &inline.bytes);
                Some(json!({"type": "image_url", "image_url": {"url": url}}))
            }
            (Kind::Audio, DataSource::Inline(inline))
                if dialect.audio && !inline.bytes.is_empty() =>
            {
                let format = match media_type {
                    "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
                    "audio/mpeg" | "audio/mp3" => "mp3",
                    _ => return None,
                };
                let audio = json!({"data": data::base64(&inline.bytes), "format": format});
                Some(json!({"type": "input_audio", "input_audio": audio}))
            }
            (Kind::Pdf, DataSource::Inline(inline))
                if dialect.files && !inline.bytes.is_empty() =>
            {
                let name = block.name.as_deref().unwrap_or("document.pdf");
                let mut file = Map::new();
                file.insert("filename".to_owned(), json!(name));
                let url = data::data_url(media_type, &inline.bytes);
                file.insert("file_data".to_owned(), json!(url));
                Some(json!({"type": "file", "file": file}))
            }
            (_, DataSource::FileId(id)) if dialect.files => {
                Some(json!({"type": "file", "file": {"file_id": id}}))
            }
            (Kind::Text, DataSource::Inline(inline)) if !inline.bytes.is_empty() => {
                let text = String::from_utf8_lossy(&inline.bytes);
                let name = block.name.as_deref().unwrap_or(media_type);
                Some(json!({"type": "text", "text": format!("{name}:\n{text}")}))
            }
            _ => None,
        }
    }
}
