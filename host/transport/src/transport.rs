//! Over the network.

use crate::endpoint::Endpoint;
use crate::error::TransportError;
use crate::response::{Body, Response};
use crate::{Wire, secret};
use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Request, Url};
use sectile_model::HttpRequest;
use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// How often whoever waits looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(25);
/// Pieces that may wait to be read; then the sender has to wait.
const AHEAD: usize = 64;
/// Bytes of all headers of an answer that are kept.
const MAX_HEADERS: usize = 64 << 10;

/// Requests over the network. Cloning shares connections.
#[derive(Clone)]
pub struct Transport(Arc<Inner>);

struct Inner {
    runtime: Option<Runtime>,
    /// One for each connect timeout: it belongs to a client.
    clients: Mutex<BTreeMap<Duration, Client>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Whoever drops the last handle may be on a thread that must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Transport {
    /// Starts the thread that the network runs on.
    ///
    /// # Errors
    /// [`TransportError::Setup`].
    pub fn new() -> Result<Self, TransportError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("transport")
            .enable_all()
            .build()
            .map_err(|e| TransportError::Setup(e.to_string()))?;
        // Somebody in this process may have chosen another one; that will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self(Arc::new(Inner {
            runtime: Some(runtime),
            clients: Mutex::default(),
        })))
    }

    fn client(&self, connect: Duration) -> Result<Client, TransportError> {
        let mut clients = self
            .0
            .clients
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&connect) {
            return Ok(client.clone());
        }
        let client = Client::builder()
            .redirect(Policy::none())
            .connect_timeout(connect)
            .user_agent(concat!("sectile/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|e| TransportError::Setup(chain(&e)))?;
        clients.insert(connect, client.clone());
        Ok(client)
    }

    fn spawn(&self, client: Client, request: Request) -> Result<Incoming, TransportError> {
        let runtime = self.0.runtime.as_ref();
        let runtime = runtime.ok_or_else(|| TransportError::Setup("it was stopped".to_owned()))?;
        let (sender, receiver) = channel();
        let room = Arc::new(Semaphore::new(AHEAD));
        let task = runtime.spawn(run(client, request, sender, Arc::clone(&room)));
        Ok(Incoming {
            receiver,
            room,
            task: task.abort_handle(),
            // The runtime lives as long as what it works on is read.
            _transport: self.clone(),
        })
    }
}

impl Wire for Transport {
    fn send(
        &self,
        endpoint: &Endpoint,
        request: &HttpRequest,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Response, TransportError> {
        let url = endpoint.url(request)?;
        let host = host(&url);
        let built = build(endpoint, request, url)?;
        let timeouts = endpoint.timeouts;
        let incoming = self.spawn(self.client(timeouts.connect)?, built)?;
        let body = Network {
            incoming,
            endpoint: endpoint.clone(),
            host: host.clone(),
            started: Instant::now(),
            read: 0,
        };
        match body.wait(cancelled)? {
            Piece::Head { status, headers } if (300..400).contains(&status) && status != 304 => {
                let location = headers.into_iter().find(|(name, _)| name == "location");
                Err(TransportError::Redirect {
                    host,
                    to: location.map_or_else(
                        || "nowhere".to_owned(),
                        |(_, to)| to.escape_debug().to_string(),
                    ),
                })
            }
            Piece::Head { status, headers } => Ok(Response {
                status,
                headers,
                body: Box::new(body),
            }),
            Piece::Chunk(_) | Piece::End => Err(TransportError::Cut {
                host,
                why: "there was no answer".to_owned(),
            }),
        }
    }
}

/// What the task says, in this order: head, chunks, end.
enum Piece {
    Head {
        status: u16,
        headers: Vec<(String, String)>,
    },
    Chunk(Bytes),
    End,
}

struct Incoming {
    receiver: Receiver<Result<Piece, reqwest::Error>>,
    room: Arc<Semaphore>,
    task: AbortHandle,
    _transport: Transport,
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // What nobody reads any more is not sent any more either.
        self.task.abort();
    }
}

async fn run(
    client: Client,
    request: Request,
    sender: Sender<Result<Piece, reqwest::Error>>,
    room: Arc<Semaphore>,
) {
    // A receiver that is gone has aborted this task, or soon will.
    let tell = |piece| sender.send(piece).is_ok();
    let mut response = match client.execute(request).await {
        Ok(response) => response,
        Err(error) => {
            tell(Err(error));
            return;
        }
    };
    let head = Piece::Head {
        status: response.status().as_u16(),
        headers: plain(response.headers()),
    };
    let mut going = tell(Ok(head));
    while going {
        let Ok(permit) = room.acquire().await else {
            return;
        };
        permit.forget();
        going = match response.chunk().await {
            Ok(Some(bytes)) => tell(Ok(Piece::Chunk(bytes))),
            Ok(None) => {
                tell(Ok(Piece::End));
                false
            }
            Err(error) => {
                tell(Err(error));
                false
            }
        };
    }
}

fn plain(headers: &HeaderMap) -> Vec<(String, String)> {
    let mut left = MAX_HEADERS;
    let mut kept = Vec::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        left = match left.checked_sub(name.as_str().len() + value.len()) {
            Some(left) => left,
            None => break,
        };
        kept.push((name.as_str().to_owned(), value));
    }
    kept
}

/// A body that comes over the network.
struct Network {
    incoming: Incoming,
    endpoint: Endpoint,
    host: String,
    started: Instant,
    read: u64,
}

impl Network {
    /// The next thing that the task says, within the endpoint's times.
    fn wait(&self, cancelled: &dyn Fn() -> bool) -> Result<Piece, TransportError> {
        let waiting = Instant::now();
        let timeouts = &self.endpoint.timeouts;
        let host = || self.host.clone();
        loop {
            if cancelled() {
                return Err(TransportError::Cancelled);
            }
            if self.started.elapsed() >= timeouts.total {
                return Err(TransportError::TotalTimeout {
                    host: host(),
                    seconds: timeouts.total.as_secs(),
                });
            }
            if waiting.elapsed() >= timeouts.idle {
                return Err(TransportError::IdleTimeout {
                    host: host(),
                    seconds: timeouts.idle.as_secs(),
                });
            }
            match self.incoming.receiver.recv_timeout(LOOK) {
                Ok(Ok(piece)) => return Ok(piece),
                Ok(Err(error)) => return Err(self.explain(&error)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(TransportError::Cut {
                        host: host(),
                        why: "the network's thread is gone".to_owned(),
                    });
                }
            }
        }
    }

    fn explain(&self, error: &reqwest::Error) -> TransportError {
        let host = self.host.clone();
        if error.is_connect() && error.is_timeout() {
            return TransportError::ConnectTimeout {
                host,
                seconds: self.endpoint.timeouts.connect.as_secs(),
            };
        }
        let why = secret::redact(&self.endpoint, &chain(error));
        match error.is_connect() {
            true => TransportError::Connect { host, why },
            false => TransportError::Cut { host, why },
        }
    }
}

impl Body for Network {
    fn next(&mut self, cancelled: &dyn Fn() -> bool) -> Result<Option<Bytes>, TransportError> {
        match self.wait(cancelled)? {
            Piece::Chunk(bytes) => {
                self.incoming.room.add_permits(1);
                self.read = self.read.saturating_add(bytes.len() as u64);
                if self.read > self.endpoint.max_body {
                    return Err(TransportError::TooLarge {
                        host: self.host.clone(),
                        limit: self.endpoint.max_body,
                    });
                }
                Ok(Some(bytes))
            }
            Piece::End | Piece::Head { .. } => Ok(None),
        }
    }
}

fn build(endpoint: &Endpoint, request: &HttpRequest, url: Url) -> Result<Request, TransportError> {
    let invalid = |what: String| TransportError::InvalidRequest(what);
    let method = Method::from_bytes(request.method.as_bytes())
        .map_err(|_| invalid(format!("`{}` is no method", request.method.escape_debug())))?;
    let mut built = Request::new(method, url);
    for (name, value) in request.headers.iter().chain(&endpoint.headers) {
        let Some(filled) = secret::filled(endpoint, value)? else {
            continue;
        };
        let is_secret = filled != *value;
        let key = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| invalid(format!("`{}` is no header's name", name.escape_debug())))?;
        let mut value = HeaderValue::from_str(&filled).map_err(|_| {
            invalid(format!(
                "the value of the header {key} has characters that none may have"
            ))
        })?;
        value.set_sensitive(is_secret);
        // The operator's come last and hold.
        built.headers_mut().insert(key, value);
    }
    if !request.body.is_empty() {
        *built.body_mut() = Some(request.body.clone().into());
    }
    Ok(built)
}

fn host(url: &Url) -> String {
    let port = url
        .port()
        .map_or_else(String::new, |port| format!(":{port}"));
    format!("{}{port}", url.host_str().unwrap_or("?"))
}

/// An error with its causes; the address is known and left out.
fn chain(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause = error.source();
    while let Some(next) = cause {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&next.to_string());
        cause = next.source();
    }
    match text.is_empty() {
        true => "it failed".to_owned(),
        false => text,
    }
}
