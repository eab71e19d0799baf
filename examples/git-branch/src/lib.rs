//! Says which branch is checked out. A whole plugin, with its manifest beside it.

use sectile_sdk::{Body, Failure, Section};
use std::{fs, io::ErrorKind};

struct GitBranch;

impl Section for GitBranch {
    fn render(_id: &str) -> Result<Option<Body>, Failure> {
        let head = match fs::read_to_string("/workspace/.git/HEAD") {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            head => head?,
        };
        let branch = head.trim().strip_prefix("ref: refs/heads/");
        Ok(branch.map(|name| Body::new(format!("The branch {name} is checked out."))))
    }
}

sectile_sdk::export_section!(GitBranch);
