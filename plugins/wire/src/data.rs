//! Binary content in the forms that protocols know.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sectile_sdk::provider::{DataBlock, DataSource};

/// What a block of data holds, as far as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `image/*`.
    Image,
    /// `audio/*`.
    Audio,
    /// `application/pdf`.
    Pdf,
    /// `text/*`.
    Text,
    /// Anything else.
    Other,
}

/// The media type of `data`: what it says, else what its name or address ends in.
#[must_use]
pub fn media_type(data: &DataBlock) -> String {
    let said = match &data.source {
        DataSource::Inline(inline) => Some(inline.media_type.as_str()),
        DataSource::Url(url) => url.media_type.as_deref(),
        DataSource::FileId(_) => None,
    };
    if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
        let essence = said.split(';').next().unwrap_or(said);
        return essence.trim().to_ascii_lowercase();
    }
    let address = match &data.source {
        DataSource::Url(url) => url.url.split(['?', '#']).next(),
        _ => None,
    };
    let name = data.name.as_deref().or(address).unwrap_or_default();
    let ending = name.rsplit('.').next().unwrap_or_default();
    let known = match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "txt" | "md" => "text/plain",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        _ => "application/octet-stream",
    };
    known.to_owned()
}

/// What kind of content a media type is of.
#[must_use]
pub fn kind(media_type: &str) -> Kind {
    match media_type.split('/').next() {
        _ if media_type == "application/pdf" => Kind::Pdf,
        Some("image") => Kind::Image,
        Some("audio") => Kind::Audio,
        Some("text") => Kind::Text,
        _ => Kind::Other,
    }
}

/// Bytes as base64 text.
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes as a `data:` address.
#[must_use]
pub fn data_url(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", base64(bytes))
}

/// The sentence that stands for content which a protocol or model does not take.
#[must_use]
pub fn placeholder(data: &DataBlock) -> String {
    let media_type = media_type(data);
    match &data.name {
        Some(name) => format!("[{media_type} `{name}` is not shown]"),
        None => format!("[{media_type} is not shown]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sectile_sdk::provider::{DataSourceInline, DataSourceUrl};

    fn url(media_type: Option<&str>, url: &str, name: Option<&str>) -> DataBlock {
        DataBlock {
            source: DataSource::Url(DataSourceUrl {
                media_type: media_type.map(str::to_owned),
                url: url.to_owned(),
            }),
            name: name.map(str::to_owned),
        }
    }

    #[test]
    fn a_media_type_is_what_is_said_and_else_what_the_name_ends_in() {
        for (data, expected) in [
            (url(Some("Image/PNG; x=1"), "u", None), "image/png"),
            (url(None, "https://h/a.JPG?x=.png", None), "image/jpeg"),
            (url(None, "https://h/a", Some("b.pdf")), "application/pdf"),
            (
                url(Some(" "), "https://h/a", None),
                "application/octet-stream",
            ),
        ] {
            assert_eq!(media_type(&data), expected);
        }
        let inline = DataBlock {
            source: DataSource::Inline(DataSourceInline {
                media_type: "image/gif".to_owned(),
                bytes: vec![1, 2],
            }),
            name: None,
        };
        assert_eq!(kind(&media_type(&inline)), Kind::Image);
        assert_eq!(data_url("image/gif", &[1, 2]), "data:image/gif;base64,AQI=");
    }
}
