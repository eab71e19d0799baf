//! HTTP/1.1, as much as a test needs: bodies can be split and broken anywhere.

use super::{Fault, Received, Reply, stall};
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

/// How long a stalled connection stays open.
const STALL: Duration = Duration::from_secs(60);
/// Between two comments.
const KEEP_ALIVE: Duration = Duration::from_millis(20);

pub(super) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self {
            reader: BufReader::new(stream.try_clone()?),
            writer: stream,
        })
    }

    /// The next request; `None` when there is none.
    pub(super) fn request(&mut self) -> Option<Received> {
        let mut line = String::new();
        self.reader.read_line(&mut line).ok()?;
        let path = line.split(' ').nth(1)?.to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(0);
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).ok()?;
        Some(Received {
            path,
            headers,
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        })
    }

    /// An answer in one piece.
    pub(super) fn whole(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        content_type: &str,
        body: &str,
    ) -> io::Result<()> {
        let more: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let length = body.len();
        write!(
            self.writer,
            "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\n{more}content-length: {length}\r\n\r\n{body}"
        )
    }

    /// An answer in chunks of `piece` bytes, with the fault of `reply`.
    pub(super) fn pieces(
        &mut self,
        content_type: &str,
        body: &[u8],
        piece: usize,
        reply: &Reply,
    ) -> io::Result<()> {
        write!(
            self.writer,
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
        )?;
        let body = match reply.fault {
            Some(Fault::CutAt(at) | Fault::StallAt(at)) => body.get(..at).unwrap_or(body),
            _ => body,
        };
        for bytes in body.chunks(piece) {
            self.chunk(bytes)?;
            if reply.pause > 0 {
                thread::sleep(Duration::from_millis(reply.pause));
            }
        }
        match reply.fault {
            Some(Fault::CutAt(_)) => self.writer.shutdown(Shutdown::Both),
            Some(Fault::StallAt(_)) => {
                stall(STALL);
                self.writer.shutdown(Shutdown::Both)
            }
            Some(Fault::KeepAlive) => loop {
                self.chunk(b": nothing yet\n\n")?;
                thread::sleep(KEEP_ALIVE);
            },
            _ => self.writer.write_all(b"0\r\n\r\n"),
        }
    }

    fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        write!(self.writer, "{:x}\r\n", bytes.len())?;
        self.writer.write_all(bytes)?;
        self.writer.write_all(b"\r\n")?;
        self.writer.flush()
    }
}
