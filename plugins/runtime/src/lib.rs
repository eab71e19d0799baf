//! Sections that say what the session may do; they read nothing.

mod deferred_tools;
mod policy;

use sectile_sdk::{Body, Failure, Section, facts};

struct Runtime;

impl Section for Runtime {
    fn render(id: &str) -> Result<Option<Body>, Failure> {
        match id {
            "runtime/sandbox-policy" => {
                let text = policy::lines(&facts::policy(), &facts::workspace().working_directory);
                Ok(Some(Body::new(text)))
            }
            "runtime/deferred-tools" => Ok(deferred_tools::lines(&facts::tools()).map(Body::new)),
            other => Err(Failure::InvalidInput(format!(
                "this plugin has no section `{other}`"
            ))),
        }
    }
}

sectile_sdk::export_section!(Runtime);
