//! What a guest says: log lines, stdout and stderr, bounded and escaped (PL-26).

use crate::error::one_line;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSource {
    /// The contract's `log`, with its level.
    Log(LogLevel),
    /// The guest's standard output.
    Stdout,
    /// The guest's standard error.
    Stderr,
}

/// Level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Finest.
    Trace,
    /// For the plugin's author.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is off.
    Warn,
    /// Something failed.
    Error,
}

impl fmt::Display for LogSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Log(LogLevel::Trace) => "trace",
            Self::Log(LogLevel::Debug) => "debug",
            Self::Log(LogLevel::Info) => "info",
            Self::Log(LogLevel::Warn) => "warn",
            Self::Log(LogLevel::Error) => "error",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        })
    }
}

/// One line of a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Where it came from.
    pub source: LogSource,
    /// Escaped text, cut to the call's limit.
    pub text: String,
}

/// The log of one call, shared by everything that can write to it.
#[derive(Debug, Clone)]
pub(crate) struct Log(Arc<Mutex<Buffer>>);

#[derive(Debug)]
struct Buffer {
    lines: Vec<LogLine>,
    suppressed: u64,
    max_lines: usize,
    max_bytes: usize,
    /// What stdout and stderr have begun and not ended.
    stdout: Line,
    stderr: Line,
}

/// The kept beginning of one line.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    cut: bool,
}

impl Line {
    fn extend(&mut self, more: &[u8], max: usize) {
        let room = max.saturating_sub(self.bytes.len());
        self.bytes.extend(more.iter().take(room));
        self.cut |= more.len() > room;
    }
}

impl Log {
    pub(crate) fn new(max_lines: usize, max_bytes: usize) -> Self {
        Self(Arc::new(Mutex::new(Buffer {
            lines: Vec::new(),
            suppressed: 0,
            max_lines,
            max_bytes,
            stdout: Line::default(),
            stderr: Line::default(),
        })))
    }

    fn with<R>(&self, f: impl FnOnce(&mut Buffer) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// One line of the contract's `log`.
    pub(crate) fn line(&self, level: LogLevel, text: &str) {
        self.with(|buffer| {
            let mut line = Line::default();
            line.extend(text.as_bytes(), buffer.max_bytes);
            buffer.push(LogSource::Log(level), line);
        });
    }

    /// Bytes of stdout; a line is kept when it ends.
    pub(crate) fn stdout(&self, bytes: &[u8]) {
        self.with(|buffer| buffer.feed(LogSource::Stdout, bytes));
    }

    /// Bytes of stderr; a line is kept when it ends.
    pub(crate) fn stderr(&self, bytes: &[u8]) {
        self.with(|buffer| buffer.feed(LogSource::Stderr, bytes));
    }

    /// Ends unfinished lines; gives the kept lines and the number left out.
    pub(crate) fn finish(&self) -> (Vec<LogLine>, u64) {
        self.with(|buffer| {
            for source in [LogSource::Stdout, LogSource::Stderr] {
                let rest = std::mem::take(buffer.partial(source));
                if !rest.bytes.is_empty() {
                    buffer.push(source, rest);
                }
            }
            (std::mem::take(&mut buffer.lines), buffer.suppressed)
        })
    }
}

impl Buffer {
    fn partial(&mut self, source: LogSource) -> &mut Line {
        match source {
            LogSource::Stderr => &mut self.stderr,
            LogSource::Stdout | LogSource::Log(_) => &mut self.stdout,
        }
    }

    fn push(&mut self, source: LogSource, line: Line) {
        if self.lines.len() >= self.max_lines {
            self.suppressed = self.suppressed.saturating_add(1);
            return;
        }
        let mut text = one_line(&String::from_utf8_lossy(&line.bytes));
        if line.cut {
            text.push('…');
        }
        self.lines.push(LogLine { source, text });
    }

    fn feed(&mut self, source: LogSource, bytes: &[u8]) {
        let max = self.max_bytes;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            self.partial(source).extend(text, max);
            if text.len() < piece.len() {
                let line = std::mem::take(self.partial(source));
                self.push(source, line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(log: &Log) -> (Vec<String>, u64) {
        let (lines, suppressed) = log.finish();
        (
            lines.into_iter().map(|line| line.text).collect(),
            suppressed,
        )
    }

    #[test]
    fn r10_lines_beyond_the_limit_are_counted() {
        let log = Log::new(2, 10);
        for n in 0..5 {
            log.line(LogLevel::Info, &n.to_string());
        }
        assert_eq!(texts(&log), (vec!["0".into(), "1".into()], 3));
    }

    #[test]
    fn r10_a_long_line_is_cut_and_marked() {
        let log = Log::new(9, 4);
        log.line(LogLevel::Info, "1234");
        log.line(LogLevel::Info, "12345");
        assert_eq!(texts(&log).0, ["1234", "1234…"]);
    }

    #[test]
    fn r11_split_lines_and_partial_utf_8_are_kept_escaped() {
        let log = Log::new(9, 100);
        log.stdout(b"one\ntw");
        log.stderr(b"err\x1b[0m");
        log.stdout("o é".as_bytes().split_last().unwrap().1);
        assert_eq!(texts(&log).0, ["one", "two \u{fffd}", "err\\u{1b}[0m"]);
    }

    #[test]
    fn r11_an_endless_line_takes_no_more_memory_than_its_limit() {
        let log = Log::new(9, 100);
        for _ in 0..1000 {
            log.stdout(&[b'x'; 1000]);
        }
        assert!(log.with(|buffer| buffer.stdout.bytes.len()) <= 100);
        assert_eq!(texts(&log).0.len(), 1);
    }
}
