//! Clients over streamable HTTP, at one address.

use crate::error::McpError;
use crate::run::until_asked_to_end;
use crate::served::Served;
use crate::server::Server;
use crate::token::Token;
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The one path.
const PATH: &str = "/mcp";
/// Connections at once; more wait to be accepted.
const CONNECTIONS: usize = 256;
/// Sessions of clients of older revisions at once.
const SESSIONS: usize = 256;
/// How long a client may take to send a request's head.
const HEAD: Duration = Duration::from_secs(15);
/// How long nothing is accepted after the system had no room for a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Who is let in over HTTP.
#[derive(Debug)]
pub struct HttpOptions {
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// What a client has to show; `None` lets in everybody who reaches the address.
    pub token: Option<Token>,
    /// Names under which clients may reach the server, besides the loopback
    /// ones and the address itself: a `Host` header has to be one of them.
    pub hosts: Vec<String>,
    /// Origins of web pages that may ask, besides those of this machine.
    pub origins: Vec<String>,
}

type Body = BoxBody<Bytes, Infallible>;
type Mcp = StreamableHttpService<Server, LocalSessionManager>;

/// An address that clients can connect to.
#[derive(Debug)]
pub struct HttpServer {
    listener: std::net::TcpListener,
    address: SocketAddr,
    options: HttpOptions,
}

impl HttpServer {
    /// Takes the address; clients that connect wait until it is served.
    ///
    /// # Errors
    /// [`McpError::Listen`].
    pub fn bind(options: HttpOptions) -> Result<Self, McpError> {
        let bind = || {
            let listener = std::net::TcpListener::bind(options.address)?;
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, listener))
        };
        let (address, listener) = bind().map_err(|why| McpError::Listen {
            address: options.address,
            why,
        })?;
        Ok(Self {
            listener,
            address,
            options,
        })
    }

    /// Where clients find it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves the workspace until the process is asked to end.
    ///
    /// # Errors
    /// [`McpError`].
    pub fn serve(self, served: Served) -> Result<(), McpError> {
        let served = Arc::new(served);
        until_asked_to_end(Arc::clone(&served), async {
            let listener = TcpListener::from_std(self.listener)?;
            let door = Arc::new(Door::new(served, self.options));
            door.accept(listener).await;
            Ok(())
        })
    }
}

/// What stands between a connection and the protocol.
struct Door {
    token: Option<Token>,
    sessions: Arc<LocalSessionManager>,
    mcp: Mcp,
}

impl Door {
    fn new(served: Arc<Served>, options: HttpOptions) -> Self {
        let sessions = Arc::new(LocalSessionManager::default());
        let factory = move || Ok(Server::new(Arc::clone(&served)));
        Self {
            mcp: Mcp::new(factory, Arc::clone(&sessions), config(&options)),
            token: options.token,
            sessions,
        }
    }

    async fn accept(self: Arc<Self>, listener: TcpListener) {
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        while let Ok(place) = Arc::clone(&room).acquire_owned().await {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let door = Arc::clone(&self);
                    tokio::spawn(async move {
                        door.talk(stream).await;
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn talk(self: Arc<Self>, stream: TcpStream) {
        let service = service_fn(|request| {
            let door = Arc::clone(&self);
            async move { Ok::<_, Infallible>(door.answer(request).await) }
        });
        // A connection that breaks is its client's affair.
        let _ = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "the server is at /mcp");
        }
        if !self.knows(&request) {
            let mut response = refusal(
                StatusCode::UNAUTHORIZED,
                "send the server's token in the header `Authorization: Bearer TOKEN`",
            );
            let scheme = hyper::header::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return response;
        }
        if self.sessions.sessions.read().await.len() >= SESSIONS && begins(&request) {
            return refusal(
                StatusCode::SERVICE_UNAVAILABLE,
                "there are too many sessions; end one, or wait until an idle one ends",
            );
        }
        self.mcp.handle(request).await
    }

    fn knows(&self, request: &Request<Incoming>) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let mut shown = request.headers().get_all(AUTHORIZATION).iter();
        match (shown.next().map(|value| value.to_str()), shown.next()) {
            (Some(Ok(value)), None) => value.split_once(' ').is_some_and(|(scheme, shown)| {
                scheme.eq_ignore_ascii_case("bearer") && token.is(shown.trim())
            }),
            _ => false,
        }
    }
}

/// Whether the request may begin a session: it is in none, and not of the
/// revision without them.
fn begins(request: &Request<Incoming>) -> bool {
    let headers = request.headers();
    let modern = headers
        .get("mcp-protocol-version")
        .is_some_and(|version| version.as_bytes() >= b"2026-07-28".as_slice());
    !modern && !headers.contains_key("mcp-session-id")
}

fn config(options: &HttpOptions) -> StreamableHttpServerConfig {
    let local = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let own = match options.address.ip() {
        ip if ip.is_unspecified() => None,
        IpAddr::V4(ip) => Some(ip.to_string()),
        IpAddr::V6(ip) => Some(format!("[{ip}]")),
    };
    let pages = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:*"));
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(local.into_iter().chain(own).chain(options.hosts.clone()))
        .with_allowed_origins(pages.into_iter().chain(options.origins.clone()))
        .enforce_origin_validation()
}

fn refusal(status: StatusCode, why: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(why)).boxed());
    *response.status_mut() = status;
    let plain = hyper::header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
