//! The catalogue of skills: what each one is for and where to read it.

mod catalog;
mod config;
mod front_matter;
mod scan;

use sectile_sdk::{Body, Failure, Section, host};

struct Skills;

impl Section for Skills {
    fn render(id: &str) -> Result<Option<Body>, Failure> {
        if id != "skills/catalog" {
            return Err(Failure::InvalidInput(format!(
                "this plugin has no section `{id}`"
            )));
        }
        let config = config::parse(&host::config()).map_err(Failure::InvalidInput)?;
        let roots = host::mounts()
            .into_iter()
            .filter(|mount| mount.source == "skills");
        let roots: Vec<_> = roots.map(Into::into).collect();
        let mut warnings = scan::Warnings::default();
        let skills = scan::scan(&roots, &config, &mut warnings);
        let text = catalog::render(&skills, &mut warnings);
        // Warnings without a catalogue would be lost with it: they go to the log.
        let warnings = warnings.into_texts();
        let Some(text) = text else {
            for warning in &warnings {
                host::log(host::LogLevel::Warn, warning);
            }
            return Ok(None);
        };
        Ok(Some(Body::new(text).warnings(warnings)))
    }
}

sectile_sdk::export_section!(Skills);
