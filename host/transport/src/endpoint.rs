//! Where requests go, and what of an adapter's request may decide that: a path
//! below the operator's address, and nothing else.

use crate::error::TransportError;
use crate::secret::SecretSource;
use reqwest::Url;
use sectile_model::HttpRequest;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// Bytes of an answer.
const MAX_BODY: u64 = 256 << 20;

/// Where requests go, in the operator's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The address below which everything is.
    pub base_url: String,
    /// Allows HTTP without TLS to another machine.
    pub allow_plain_http: bool,
    /// Headers besides the adapter's, which they replace.
    pub headers: Vec<(String, String)>,
    /// The secrets that may be sent there, by name.
    pub secrets: BTreeMap<String, SecretSource>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// Bytes that an answer may have.
    pub max_body: u64,
}

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the next piece of an answer, its head included.
    pub idle: Duration,
    /// For the whole answer.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            idle: Duration::from_secs(120),
            total: Duration::from_secs(30 * 60),
        }
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            allow_plain_http: false,
            headers: Vec::new(),
            secrets: BTreeMap::new(),
            timeouts: Timeouts::default(),
            max_body: MAX_BODY,
        }
    }
}

impl Endpoint {
    /// The address of `request`.
    pub(crate) fn url(&self, request: &HttpRequest) -> Result<Url, TransportError> {
        let mut url = self.base()?;
        let path = &request.path;
        let is_plain = path.starts_with('/')
            && !path.contains(['?', '#', '\\', '%'])
            && !path.chars().any(char::is_control)
            && !path.split('/').any(|segment| matches!(segment, "." | ".."));
        if !is_plain {
            return Err(TransportError::InvalidRequest(format!(
                "the path `{}` is not a plain one",
                path.escape_debug()
            )));
        }
        url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        Ok(url)
    }

    fn base(&self) -> Result<Url, TransportError> {
        let refused = |why: &str| TransportError::InvalidEndpoint {
            url: match self.base_url.contains('@') {
                true => "…".to_owned(),
                false => self.base_url.escape_debug().to_string(),
            },
            why: why.to_owned(),
        };
        let url = Url::parse(&self.base_url).map_err(|e| refused(&e.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("it holds a user's name or password; use a secret"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused("it has a query or a fragment"));
        }
        match url.scheme() {
            "https" => Ok(url),
            "http" if self.allow_plain_http || is_loopback(&url) => Ok(url),
            "http" => Err(refused(
                "HTTP without TLS goes to this machine only; use https, or allow_plain_http = true",
            )),
            _ => Err(refused("it is neither https nor http")),
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(base: &str, path: &str) -> Result<String, &'static str> {
        let endpoint = Endpoint {
            base_url: base.to_owned(),
            ..Endpoint::default()
        };
        let request = HttpRequest {
            method: "POST".to_owned(),
            path: path.to_owned(),
            query: vec![],
            headers: vec![],
            body: vec![],
        };
        endpoint
            .url(&request)
            .map(String::from)
            .map_err(|e| e.code())
    }

    #[test]
    fn x4_a_path_stays_below_the_base_url() {
        for (base, path, joined) in [
            ("https://a.example/v1", "/chat", "https://a.example/v1/chat"),
            (
                "https://a.example/",
                "/v1/messages",
                "https://a.example/v1/messages",
            ),
            (
                "http://127.0.0.1:8080/v1/",
                "/x",
                "http://127.0.0.1:8080/v1/x",
            ),
            (
                "http://[::1]:1",
                "//b.example/x",
                "http://[::1]:1//b.example/x",
            ),
            ("http://localhost", "/x", "http://localhost/x"),
        ] {
            assert_eq!(url(base, path).as_deref(), Ok(joined));
        }
        for path in [
            "x",
            "@b.example/x",
            "/../x",
            "/a/%2e%2e/x",
            "/x?a=b",
            "/x#y",
            "/a\\b",
            "/a\nb",
            "",
        ] {
            assert_eq!(
                url("https://a.example/v1", path),
                Err("invalid_request"),
                "{path}"
            );
        }
    }

    #[test]
    fn pl_16_an_address_is_https_or_this_machine_and_holds_no_password() {
        for base in [
            "http://a.example",
            "http://127.0.0.1.a.example",
            "http://localhost.a.example",
            "http://169.254.169.254",
            "https://user:secret@a.example",
            "ftp://a.example",
            "https://a.example/?q",
            "a.example",
            "",
        ] {
            assert_eq!(url(base, "/x"), Err("invalid_endpoint"), "{base}");
        }
        let error = Endpoint {
            base_url: "https://user:hunter2@a.example".to_owned(),
            ..Endpoint::default()
        };
        assert!(!error.base().unwrap_err().to_string().contains("hunter2"));
    }
}
