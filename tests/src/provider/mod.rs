//! The far side of the network: a server on loopback that speaks two protocols
//! of model providers over real HTTP, judges requests as they do, and fails on
//! demand.

mod anthropic;
mod http;
mod openai;
mod rules;

use serde_json::Value;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Received {
    /// Its path.
    pub path: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body; null when it is no JSON.
    pub body: Value,
}

impl Received {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Everything that the request says, as one text.
    #[must_use]
    pub fn said(&self) -> String {
        self.body.to_string()
    }
}

/// A part of an answer.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text.
    Text(String),
    /// Thinking, with the signature that must come back.
    Thinking {
        /// The thoughts.
        text: String,
        /// The signature.
        signature: String,
    },
    /// A tool call.
    Call {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments, as they are written.
        arguments: String,
    },
}

/// What goes wrong.
#[derive(Debug, Clone)]
pub enum Fault {
    /// An answer with this status, these headers and this body.
    Status(u16, Vec<(String, String)>, String),
    /// The connection is closed after so many bytes of the body.
    CutAt(usize),
    /// After so many bytes nothing more comes.
    StallAt(usize),
    /// The events end without the one that ends them.
    NoEnd,
    /// An event of a known kind that is broken.
    Malformed,
    /// An error in the middle of the events.
    ErrorEvent,
    /// Comments and nothing else, for ever.
    KeepAlive,
}

/// What is answered.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// The parts, in their order.
    pub parts: Vec<Part>,
    /// The answer is cut at its output limit.
    pub is_cut: bool,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// Milliseconds between two pieces.
    pub pause: u64,
}

impl Reply {
    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self {
            parts: vec![Part::Text(text.to_owned())],
            ..Self::default()
        }
    }

    /// One tool call.
    #[must_use]
    pub fn call(id: &str, name: &str, arguments: &str) -> Self {
        Self {
            parts: vec![Part::Call {
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: arguments.to_owned(),
            }],
            ..Self::default()
        }
    }

    /// A fault in place of an answer.
    #[must_use]
    pub fn fault(fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..Self::text("partial answer")
        }
    }

    /// The request is too long, in the words of the protocol of `request`.
    #[must_use]
    pub fn overflow(request: &Received) -> Self {
        let body = match Protocol::of(&request.path) {
            Protocol::Anthropic => {
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}"#
            }
            Protocol::OpenAi => {
                r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#
            }
        };
        Self::fault(Fault::Status(400, vec![], body.to_owned()))
    }
}

/// Which protocol a path belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Anthropic,
    OpenAi,
}

impl Protocol {
    fn of(path: &str) -> Self {
        match path.ends_with("/messages") {
            true => Self::Anthropic,
            false => Self::OpenAi,
        }
    }
}

type Script = dyn Fn(&Received, usize) -> Reply + Send + Sync;

/// A server that runs until it is dropped.
pub struct ProviderServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Box<Script>,
    requests: Mutex<Vec<Received>>,
    stopped: AtomicBool,
    /// Bytes of each piece of a body.
    piece: usize,
}

impl ProviderServer {
    /// Answers the request number n (from 0) with what `script` says; bodies go
    /// out in pieces of `piece` bytes.
    ///
    /// # Errors
    /// When no port is to be had.
    pub fn start(
        piece: usize,
        script: impl Fn(&Received, usize) -> Reply + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Box::new(script),
            requests: Mutex::default(),
            stopped: AtomicBool::new(false),
            piece: piece.max(1),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.stopped.load(Ordering::Acquire) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                thread::spawn(move || shared.serve(stream));
            }
        });
        Ok(Self { address, shared })
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What came so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        let requests = self.shared.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ProviderServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    /// One connection: requests until it is closed or something goes wrong.
    fn serve(&self, stream: TcpStream) {
        let Ok(mut connection) = http::Connection::new(stream) else {
            return;
        };
        while let Some(request) = connection.request() {
            let number = {
                let requests = self.requests.lock();
                let mut requests = requests.unwrap_or_else(PoisonError::into_inner);
                requests.push(request.clone());
                requests.len() - 1
            };
            if self.answer(&mut connection, &request, number).is_err() {
                return;
            }
        }
    }

    fn answer(
        &self,
        connection: &mut http::Connection,
        request: &Received,
        number: usize,
    ) -> std::io::Result<()> {
        let protocol = Protocol::of(&request.path);
        if let Err((status, why)) = rules::check(protocol, request) {
            let body = match protocol {
                Protocol::Anthropic => anthropic::error("invalid_request_error", &why),
                Protocol::OpenAi => openai::error("invalid_request_error", &why),
            };
            return connection.whole(status, &[], "application/json", &body);
        }
        let reply = (self.script)(request, number);
        if let Some(Fault::Status(status, headers, body)) = &reply.fault {
            return connection.whole(*status, headers, "application/json", body);
        }
        let is_streaming = request.body.get("stream").and_then(Value::as_bool) == Some(true);
        let (content_type, body) = match (protocol, is_streaming) {
            (Protocol::Anthropic, true) => ("text/event-stream", anthropic::stream(&reply)),
            (Protocol::Anthropic, false) => ("application/json", anthropic::whole(&reply)),
            (Protocol::OpenAi, true) => ("text/event-stream", openai::stream(&reply)),
            (Protocol::OpenAi, false) => ("application/json", openai::whole(&reply)),
        };
        connection.pieces(content_type, body.as_bytes(), self.piece, &reply)
    }
}

/// Keeps a connection open that nothing comes over.
fn stall(stopped_at: Duration) {
    thread::sleep(stopped_at);
}
