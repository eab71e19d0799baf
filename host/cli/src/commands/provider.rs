//! `sectile provider`: the adapters alone (CL-1, CL-2).

use crate::args::{Cli, ProviderCommand};
use crate::failure::Failure;
use crate::output::{DIM, Output};
use crate::text::padded;
use sectile_model::{ProviderError, ProviderRequest};
use sectile_sandbox::DecodeError;
use sectile_session::{Host, NamedAdapter};
use serde_json::{Value, json};
use std::io::{self, Read};

/// Bytes that are read at once when nothing else is asked for.
const CHUNK: usize = 64 << 10;

pub(crate) fn run(cli: &Cli, output: &Output, command: &ProviderCommand) -> Result<(), Failure> {
    let host = super::open(cli)?;
    match command {
        ProviderCommand::List => list(&host, output),
        ProviderCommand::Encode { provider } => encode(&host.named_adapter(provider)?, output),
        ProviderCommand::Decode {
            provider,
            content_type,
            status,
            headers,
            chunk,
        } => {
            let adapter = host.named_adapter(provider)?;
            if *status >= 400 {
                return classify(&adapter, output, *status, headers);
            }
            let chunk = chunk.map_or(CHUNK, std::num::NonZero::get);
            decode(&adapter, output, content_type.as_deref(), chunk)
        }
    }
}

fn list(host: &Host, output: &Output) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for name in host.operator().provider_names() {
        // One that is not complete is listed with what it lacks.
        rows.push(match host.operator().provider(Some(&name)) {
            Ok(provider) => json!({
                "name": name,
                "adapter": provider.adapter,
                "base_url": provider.base_url,
                "model": provider.entry.model,
                "secrets": provider.entry.secrets.keys().collect::<Vec<_>>(),
            }),
            Err(error) => json!({"name": name, "problem": error.to_string()}),
        });
    }
    if output.is_json() {
        return output.json(&rows);
    }
    let cell = |row: &Value, key: &str| {
        row.get(key)
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned()
    };
    let line = |row: &Value| {
        let problem = cell(row, "problem");
        format!(
            "{} {} {DIM}{} {}{problem}{DIM:#}\n",
            padded(&cell(row, "name"), 12),
            padded(&cell(row, "adapter"), 28),
            padded(&cell(row, "base_url"), 56),
            cell(row, "model"),
        )
    };
    output.text(&rows.iter().map(line).collect::<String>())
}

fn encode(adapter: &NamedAdapter, output: &Output) -> Result<(), Failure> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(input)?;
    let request: ProviderRequest = serde_json::from_str(&text)
        .map_err(|e| Failure::Usage(format!("the request is not valid: {e}")))?;
    let encoded = adapter.encode(request)?;
    output.json(&encoded_document(&encoded))
}

/// The form of CL-1; a body that is no JSON is shown as text.
pub(crate) fn encoded_document(encoded: &sectile_model::EncodedRequest) -> Value {
    let http = &encoded.http;
    let body = serde_json::from_slice(&http.body)
        .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&http.body)));
    json!({
        "method": http.method,
        "path": http.path,
        "query": http.query,
        "headers": http.headers,
        "body": body,
        "diagnostics": encoded.diagnostics,
    })
}

fn decode(
    adapter: &NamedAdapter,
    output: &Output,
    content_type: Option<&str>,
    chunk: usize,
) -> Result<(), Failure> {
    let mut stdin = io::stdin().lock();
    let mut buffer = vec![0; chunk];
    let mut first = fill(&mut stdin, &mut buffer)?;
    // Without a word on its type, a body that begins like an object is one.
    let guessed = match buffer
        .iter()
        .take(first)
        .find(|byte| !byte.is_ascii_whitespace())
    {
        Some(b'{') => "application/json",
        _ => "text/event-stream",
    };
    let mut decoder = adapter.decoder(content_type.unwrap_or(guessed))?;
    loop {
        let bytes = buffer.get(..first).unwrap_or_default();
        let events = match bytes.is_empty() {
            true => decoder.finish(),
            false => decoder.push(bytes),
        };
        let ended = bytes.is_empty();
        for event in shown(output, events)? {
            output.json_line(&event)?;
        }
        if ended {
            return Ok(());
        }
        first = fill(&mut stdin, &mut buffer)?;
    }
}

fn classify(
    adapter: &NamedAdapter,
    output: &Output,
    status: u16,
    headers: &[(String, String)],
) -> Result<(), Failure> {
    let mut body = Vec::new();
    io::stdin().read_to_end(&mut body).map_err(input)?;
    let error = adapter.classify(status, headers, &body)?;
    failed(output, &error)
}

/// The events, or the error as the last line.
fn shown<T>(output: &Output, events: Result<T, DecodeError>) -> Result<T, Failure> {
    match events {
        Ok(events) => Ok(events),
        Err(DecodeError::Provider(error)) => Err(match failed(output, &error) {
            Err(failure) => failure,
            Ok(()) => Failure::Reported,
        }),
        Err(DecodeError::Sandbox(error)) => Err(error.into()),
    }
}

fn failed(output: &Output, error: &ProviderError) -> Result<(), Failure> {
    output.json_line(&json!({
        "type": "error",
        "class": error.class,
        "message": error.message,
        "retry": error.retry,
        "code": error.code,
    }))?;
    Err(Failure::Reported)
}

/// Fills `buffer` as far as the input goes.
fn fill(stdin: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Failure> {
    let mut filled = 0;
    while let Some(rest @ [_, ..]) = buffer.get_mut(filled..) {
        match stdin.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(input(error)),
        }
    }
    Ok(filled)
}

fn input(error: io::Error) -> Failure {
    Failure::Stream(format!("standard input: {error}"))
}
