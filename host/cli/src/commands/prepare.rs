//! `sectile prepare`.

use crate::args::Cli;
use crate::failure::Failure;
use crate::output::Output;
use sectile_engine::PreparedDocument;

pub(crate) fn run(cli: &Cli, output: &Output, message: &str) -> Result<(), Failure> {
    let host = super::open(cli)?;
    let composition = super::compose(&host, Some(message))?;
    output.warnings(&composition.warnings);
    output.json(&PreparedDocument::from(composition.call))
}
