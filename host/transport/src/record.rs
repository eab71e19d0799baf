//! Exchanges kept as lines of JSON, and given back (PV-11).

use crate::endpoint::Endpoint;
use crate::error::TransportError;
use crate::response::{Body, Response};
use crate::transport::Transport;
use crate::{Wire, secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use sectile_model::HttpRequest;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// One exchange, with slots in the place of secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    request_headers: Vec<(String, String)>,
    request: Content,
    status: u16,
    headers: Vec<(String, String)>,
    body: Content,
    /// Why the body ends where it does, when it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Text(String),
    Base64(String),
}

impl Content {
    fn new(endpoint: &Endpoint, bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(secret::redact(endpoint, text)),
            Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).map_err(|e| e.to_string()),
        }
    }
}

/// The network, with a copy of each exchange in a file.
pub struct Recorder {
    transport: Transport,
    log: Arc<Log>,
}

struct Log {
    path: PathBuf,
    file: Mutex<File>,
}

impl Recorder {
    /// Records into the new file `path`.
    ///
    /// # Errors
    /// [`TransportError::Recording`], also when it is there already.
    pub fn create(transport: Transport, path: &Path) -> Result<Self, TransportError> {
        let file = File::create_new(path).map_err(|e| failed(path, &e))?;
        Ok(Self {
            transport,
            log: Arc::new(Log {
                path: path.to_owned(),
                file: Mutex::new(file),
            }),
        })
    }
}

impl Wire for Recorder {
    fn send(
        &self,
        endpoint: &Endpoint,
        request: &HttpRequest,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Response, TransportError> {
        let response = self.transport.send(endpoint, request, cancelled)?;
        let redacted = |headers: &[(String, String)]| {
            let kept = headers.iter().filter(|(name, _)| name != "set-cookie");
            kept.map(|(name, value)| (name.clone(), secret::redact(endpoint, value)))
                .collect()
        };
        let recording = Recording {
            recorded: Recorded {
                method: request.method.clone(),
                path: request.path.clone(),
                query: request.query.clone(),
                request_headers: redacted(&request.headers),
                request: Content::new(endpoint, &request.body),
                status: response.status,
                headers: redacted(&response.headers),
                body: Content::Text(String::new()),
                cut: None,
            },
            endpoint: endpoint.clone(),
            body: response.body,
            read: Vec::new(),
            log: Arc::clone(&self.log),
            is_written: false,
        };
        Ok(Response {
            status: response.status,
            headers: response.headers,
            body: Box::new(recording),
        })
    }
}

/// A body that is kept as it is read.
struct Recording {
    recorded: Recorded,
    endpoint: Endpoint,
    body: Box<dyn Body>,
    read: Vec<u8>,
    log: Arc<Log>,
    is_written: bool,
}

impl Body for Recording {
    fn next(&mut self, cancelled: &dyn Fn() -> bool) -> Result<Option<Bytes>, TransportError> {
        match self.body.next(cancelled) {
            Ok(Some(bytes)) => {
                self.read.extend_from_slice(&bytes);
                Ok(Some(bytes))
            }
            Ok(None) => self.write(None).map(|()| None),
            Err(error) => {
                self.write(Some(error.code().to_owned()))?;
                Err(error)
            }
        }
    }
}

impl Recording {
    fn write(&mut self, cut: Option<String>) -> Result<(), TransportError> {
        if std::mem::replace(&mut self.is_written, true) {
            return Ok(());
        }
        self.recorded.cut = cut;
        self.recorded.body = Content::new(&self.endpoint, &self.read);
        let mut line = serde_json::to_string(&self.recorded).unwrap_or_default();
        line.push('\n');
        let mut file = self.log.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes())
            .map_err(|e| failed(&self.log.path, &e))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // An answer that nobody read to its end is kept as far as it was read.
        let _ = self.write(Some("not_read".to_owned()));
    }
}

/// Recorded exchanges, given back in their order.
pub struct Replay {
    exchanges: Vec<Recorded>,
    next: Mutex<usize>,
}

impl Replay {
    /// Reads the recording `path`.
    ///
    /// # Errors
    /// [`TransportError::Recording`].
    pub fn open(path: &Path) -> Result<Self, TransportError> {
        let file = File::open(path).map_err(|e| failed(path, &e))?;
        let mut exchanges = Vec::new();
        for (n, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(|e| failed(path, &e))?;
            exchanges.push(
                serde_json::from_str(&line).map_err(|e| TransportError::Recording {
                    path: path.to_owned(),
                    why: format!("line {}: {e}", n + 1),
                })?,
            );
        }
        Ok(Self {
            exchanges,
            next: Mutex::new(0),
        })
    }
}

impl Wire for Replay {
    fn send(
        &self,
        _endpoint: &Endpoint,
        request: &HttpRequest,
        _cancelled: &dyn Fn() -> bool,
    ) -> Result<Response, TransportError> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next += 1;
        let number = *next;
        let mismatch = |why: String| TransportError::ReplayMismatch { number, why };
        let recorded = self
            .exchanges
            .get(number - 1)
            .ok_or_else(|| mismatch("the recording has no more".to_owned()))?;
        // Bodies may differ: ids and the surroundings of a session change.
        if (&recorded.method, &recorded.path) != (&request.method, &request.path) {
            return Err(mismatch(format!(
                "recorded was {} {}",
                recorded.method, recorded.path
            )));
        }
        let bytes = recorded.body.bytes().map_err(mismatch)?;
        Ok(Response {
            status: recorded.status,
            headers: recorded.headers.clone(),
            body: Box::new(Played {
                bytes: Some(bytes.into()),
                cut: recorded.cut.clone(),
            }),
        })
    }

    fn redact(&self, _endpoint: &Endpoint, text: &str) -> String {
        text.to_owned()
    }
}

struct Played {
    bytes: Option<Bytes>,
    cut: Option<String>,
}

impl Body for Played {
    fn next(&mut self, _cancelled: &dyn Fn() -> bool) -> Result<Option<Bytes>, TransportError> {
        match (self.bytes.take(), self.cut.take()) {
            (Some(bytes), cut) => {
                self.cut = cut;
                Ok(Some(bytes))
            }
            (None, Some(why)) if why != "not_read" => Err(TransportError::Cut {
                host: "the recording".to_owned(),
                why,
            }),
            (None, _) => Ok(None),
        }
    }
}

fn failed(path: &Path, error: &std::io::Error) -> TransportError {
    TransportError::Recording {
        path: path.to_owned(),
        why: error.to_string(),
    }
}
