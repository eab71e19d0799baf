//! `sectile engine prepare`: documents in, documents out.

use crate::args::EngineCommand;
use crate::failure::Failure;
use crate::output::Output;
use sectile_engine::prepare_document;
use std::io::Read;

pub(crate) fn run(output: &Output, command: &EngineCommand) -> Result<(), Failure> {
    let EngineCommand::Prepare = command;
    let mut json = String::new();
    std::io::stdin()
        .read_to_string(&mut json)
        .map_err(|e| Failure::Stream(format!("standard input cannot be read: {e}")))?;
    output.json(&prepare_document(&json)?)
}
