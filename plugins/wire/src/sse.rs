//! Frames of server-sent events, from bytes that are split anywhere (PV-5).

use std::fmt;

/// Bytes that one line, and the data of one frame, may have.
pub const MAX_LINE: usize = 16 << 20;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// What `event:` said; empty without one.
    pub event: String,
    /// The `data:` lines, joined by line feeds. Without any, the lines that are
    /// no field at all: some services answer with bare JSON in mid-stream.
    pub data: String,
}

/// A line or a frame beyond [`MAX_LINE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a line of the answer has more than {MAX_LINE} bytes")
    }
}

/// Splits a stream into frames. Lines end with LF, CR or CRLF and with nothing
/// else: U+2028 and its like are text.
#[derive(Debug)]
pub struct Framer {
    limit: usize,
    line: Vec<u8>,
    /// A CR ended the last line; an LF right after it belongs to it.
    after_cr: bool,
    at_start: bool,
    frame: Frame,
    has_data: bool,
    stray: String,
}

impl Default for Framer {
    fn default() -> Self {
        Self::with_limit(MAX_LINE)
    }
}

impl Framer {
    /// A framer whose lines have at most `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            frame: Frame::default(),
            has_data: false,
            stray: String::new(),
        }
    }

    /// The frames that `chunk` completes.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn push(&mut self, chunk: &[u8], frames: &mut Vec<Frame>) -> Result<(), TooLong> {
        let mut rest = chunk;
        if self.after_cr
            && let Some((first, after)) = rest.split_first()
        {
            self.after_cr = false;
            if *first == b'\n' {
                rest = after;
            }
        }
        while let Some(at) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            let (line, end) = rest.split_at(at);
            self.extend(line)?;
            self.end_line(frames)?;
            rest = match end {
                [b'\r', b'\n', after @ ..] | [_, after @ ..] => {
                    self.after_cr = end.len() == 1 && end == b"\r";
                    after
                }
                [] => end,
            };
        }
        self.extend(rest)
    }

    /// The frame that was not followed by an empty line.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn finish(&mut self, frames: &mut Vec<Frame>) -> Result<(), TooLong> {
        if !self.line.is_empty() {
            self.end_line(frames)?;
        }
        self.end_frame(frames);
        Ok(())
    }

    fn extend(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + piece.len() > self.limit {
            return Err(TooLong);
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn end_line(&mut self, frames: &mut Vec<Frame>) -> Result<(), TooLong> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let mut line = text.as_ref();
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            self.end_frame(frames);
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" | "id" | "retry" => {}
            "event" => value.clone_into(&mut self.frame.event),
            "data" => {
                let is_first = !std::mem::replace(&mut self.has_data, true);
                add(&mut self.frame.data, value, is_first, self.limit)?;
            }
            _ => {
                let is_first = self.stray.is_empty();
                add(&mut self.stray, line, is_first, self.limit)?;
            }
        }
        Ok(())
    }

    fn end_frame(&mut self, frames: &mut Vec<Frame>) {
        let mut frame = std::mem::take(&mut self.frame);
        let stray = std::mem::take(&mut self.stray);
        if std::mem::take(&mut self.has_data) {
            frames.push(frame);
        } else if !stray.is_empty() {
            frame.data = stray;
            frames.push(frame);
        }
    }
}

fn add(to: &mut String, line: &str, is_first: bool, limit: usize) -> Result<(), TooLong> {
    if to.len() + line.len() >= limit {
        return Err(TooLong);
    }
    if !is_first {
        to.push('\n');
    }
    to.push_str(line);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let (mut framer, mut frames) = (Framer::default(), Vec::new());
        for chunk in chunks {
            framer.push(chunk, &mut frames).unwrap();
        }
        framer.finish(&mut frames).unwrap();
        frames.into_iter().map(|f| (f.event, f.data)).collect()
    }

    fn data(text: &str) -> Vec<String> {
        frames(&[text.as_bytes()])
            .into_iter()
            .map(|(_, data)| data)
            .collect()
    }

    #[test]
    fn pv_5_every_legal_form_of_a_frame_is_read() {
        for (text, expected) in [
            ("data: a\n\ndata: b\n\n", vec!["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec!["a", "b"]),
            ("data: a\r\rdata: b\r\r", vec!["a", "b"]),
            ("data: a\r\n\rdata: b\n\r\n", vec!["a", "b"]),
            ("\u{feff}data: a\n\n", vec!["a"]),
            (": hello\ndata: a\n: more\n\n:\n\n", vec!["a"]),
            ("data: a\ndata:b\ndata:  c\n\n", vec!["a\nb\n c"]),
            ("data\ndata\n\n", vec!["\n"]),
            ("data:\n\n", vec![""]),
            ("data: no end", vec!["no end"]),
            ("data: no empty line\n", vec!["no empty line"]),
            ("id: 1\nretry: 5\ndata: a\n\n", vec!["a"]),
            ("event: only\n\n", vec![]),
            ("\n\n\n", vec![]),
            ("", vec![]),
            ("data: a\u{2028}b\u{85}c\n\n", vec!["a\u{2028}b\u{85}c"]),
            ("{\n  \"error\": 1\n}\n", vec!["{\n  \"error\": 1\n}"]),
        ] {
            assert_eq!(data(text), expected, "{text:?}");
        }
    }

    #[test]
    fn pv_5_the_name_of_an_event_holds_for_its_frame_alone() {
        let text: &[u8] = b"event: a\ndata: 1\n\ndata: 2\n\n";
        let expected = [("a", "1"), ("", "2")].map(|(e, d)| (e.to_owned(), d.to_owned()));
        assert_eq!(frames(&[text]), expected);
    }

    #[test]
    fn pv_5_a_cut_inside_a_character_or_a_line_end_changes_nothing() {
        let text = "data: gr\u{fc}n \u{1f600}\r\n\r\ndata: b\r\r\ndata: c\n\n".as_bytes();
        let whole = frames(&[text]);
        assert_eq!(whole.len(), 3);
        for at in 0..=text.len() {
            let (a, b) = text.split_at(at);
            assert_eq!(frames(&[a, b]), whole, "{at}");
            assert_eq!(frames(&[a, b"", b]), whole, "{at}");
        }
    }

    #[test]
    fn pv_5_a_line_and_a_frame_are_bounded() {
        let mut framer = Framer::with_limit(8);
        let mut frames = Vec::new();
        assert_eq!(framer.push(b"data: 12", &mut frames), Ok(()));
        assert_eq!(framer.push(b"3", &mut frames), Err(TooLong));
        let mut framer = Framer::with_limit(8);
        let lines = b"data: 1\ndata: 2\ndata: 3\ndata: 4\ndata: 5\n";
        assert_eq!(framer.push(lines, &mut frames), Err(TooLong));
    }

    proptest! {
        #[test]
        fn pv_5_frames_do_not_depend_on_the_split(
            text in "(data:|event:|:|\\{|[ \na\r\u{e9}\u{1f600}]){0,40}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let bytes = text.as_bytes();
            let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let chunks: Vec<_> = at.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
            prop_assert_eq!(frames(&chunks), frames(&[bytes]));
        }
    }
}
