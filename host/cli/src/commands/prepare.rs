//! `sectile prepare`.

use super::provider::encoded_document;
use crate::args::Cli;
use crate::failure::Failure;
use crate::output::Output;
use sectile_engine::PreparedDocument;

pub(crate) fn run(
    cli: &Cli,
    output: &Output,
    message: &str,
    provider: Option<&str>,
    model: Option<&str>,
) -> Result<(), Failure> {
    let host = super::open(cli)?;
    let composition = super::compose(&host, Some(message))?;
    output.warnings(&composition.warnings);
    match provider {
        Some(provider) => output.json(&encoded_document(&host.encode(
            &composition,
            provider,
            model,
        )?)),
        None => output.json(&PreparedDocument::from(composition.call)),
    }
}
