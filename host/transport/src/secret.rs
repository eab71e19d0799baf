//! Secrets: read when a request leaves, put into its headers, and never shown
//! (PL-16, PL-17).

use crate::endpoint::Endpoint;
use crate::error::TransportError;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

const OPEN: &str = "{secret:";
/// Bytes of a secret.
const MAX_SECRET: u64 = 16 << 10;
/// Shorter ones would blot out half of every text.
const MIN_REDACTED: usize = 6;

/// Where a secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// In an environment variable.
    Environment(String),
    /// In a file.
    File(PathBuf),
    /// In the user's keyring.
    Keyring {
        /// Name of the service.
        service: String,
        /// Name of the user.
        user: String,
    },
}

/// A secret's value; it prints as dots.
struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl SecretSource {
    fn read(&self, name: &str) -> Result<Secret, TransportError> {
        let missing = |why: String| TransportError::SecretMissing {
            name: name.to_owned(),
            why,
        };
        let value = match self {
            Self::Environment(variable) => std::env::var(variable)
                .map_err(|_| missing(format!("set the environment variable {variable}")))?,
            Self::File(path) => {
                let failed = |e: std::io::Error| missing(format!("{}: {e}", path.display()));
                let mut text = String::new();
                File::open(path)
                    .map_err(failed)?
                    .take(MAX_SECRET)
                    .read_to_string(&mut text)
                    .map_err(failed)?;
                text
            }
            Self::Keyring { service, user } => keyring::Entry::new(service, user)
                .and_then(|entry| entry.get_password())
                .map_err(|e| missing(format!("the keyring has none for {service}, {user}: {e}")))?,
        };
        let value = value.trim();
        if value.is_empty() {
            return Err(missing("it is empty".to_owned()));
        }
        if !value.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
            return Err(missing(
                "it has characters that no header can carry".to_owned(),
            ));
        }
        Ok(Secret(value.to_owned()))
    }
}

/// `value` with its slots filled; `None` when a slot names a secret that the
/// endpoint has not: a server that needs no key gets no such header.
pub(crate) fn filled(endpoint: &Endpoint, value: &str) -> Result<Option<String>, TransportError> {
    let (mut filled, mut rest) = (String::new(), value);
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let (name, after) = behind.split_once('}').ok_or_else(|| {
            TransportError::InvalidRequest("a secret's slot in a header is not closed".to_owned())
        })?;
        let Some(source) = endpoint.secrets.get(name) else {
            return Ok(None);
        };
        filled.push_str(before);
        filled.push_str(&source.read(name)?.0);
        rest = after;
    }
    filled.push_str(rest);
    Ok(Some(filled))
}

/// `text` with every secret of `endpoint` replaced by its slot (X2).
pub(crate) fn redact(endpoint: &Endpoint, text: &str) -> String {
    let mut text = text.to_owned();
    for (name, source) in &endpoint.secrets {
        // One that cannot be read was not sent either.
        if let Ok(secret) = source.read(name)
            && secret.0.len() >= MIN_REDACTED
        {
            text = text.replace(&secret.0, &format!("{OPEN}{name}}}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn endpoint(value: &str) -> (tempfile::TempDir, Endpoint) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("key"), value).unwrap();
        let source = SecretSource::File(dir.path().join("key"));
        let endpoint = Endpoint {
            secrets: [("key".to_owned(), source)].into(),
            ..Endpoint::default()
        };
        (dir, endpoint)
    }

    #[test]
    fn pl_17_a_slot_is_filled_and_an_unknown_one_leaves_the_header_out() {
        let (_dir, endpoint) = endpoint(" canary-1234\n");
        let fill = |value: &str| filled(&endpoint, value);
        assert_eq!(
            fill("Bearer {secret:key}"),
            Ok(Some("Bearer canary-1234".to_owned()))
        );
        assert_eq!(fill("plain {x}"), Ok(Some("plain {x}".to_owned())));
        assert_eq!(fill("{secret:other}"), Ok(None));
        assert_eq!(fill("{secret:key").unwrap_err().code(), "invalid_request");
    }

    #[test]
    fn pl_17_what_is_no_secret_is_an_error_that_does_not_show_it() {
        for value in ["", "  \n", "c\nary", "canary\u{7}", "canäry"] {
            let (_dir, endpoint) = endpoint(value);
            let error = filled(&endpoint, "{secret:key}").unwrap_err();
            assert_eq!(error.code(), "secret_missing", "{value:?}");
            assert!(!error.to_string().contains("ary"), "{error}");
        }
        let nowhere = Endpoint {
            secrets: [(
                "k".to_owned(),
                SecretSource::Environment("NO_SUCH_VARIABLE_HERE".to_owned()),
            )]
            .into(),
            ..Endpoint::default()
        };
        let error = filled(&nowhere, "{secret:k}").unwrap_err().to_string();
        assert!(error.contains("NO_SUCH_VARIABLE_HERE"), "{error}");
    }

    #[test]
    fn x2_a_secret_is_redacted_wherever_it_stands() {
        let (_dir, endpoint) = endpoint("canary-1234");
        assert_eq!(
            redact(&endpoint, "bad key canary-1234, canary-1234"),
            "bad key {secret:key}, {secret:key}"
        );
        assert_eq!(format!("{:?}", Secret("canary".to_owned())), "Secret(…)");
    }
}
