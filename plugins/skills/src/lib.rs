//! The catalogue of skills: what each one is for and where to read it.

mod catalog;
mod config;
mod front_matter;
mod scan;

use sectile_sdk::{Body, Failure, Section, host};

struct Skills;

/// Before the name of a skill: its body, for a turn that chose it (SR-20).
const BODY: &str = "skills/body/";

impl Section for Skills {
    fn render(id: &str) -> Result<Option<Body>, Failure> {
        match (id, id.strip_prefix(BODY)) {
            ("skills/catalog", _) => catalogue(),
            (_, Some(name)) => body(name).map(Some),
            _ => Err(Failure::InvalidInput(format!(
                "this plugin has no section `{id}`"
            ))),
        }
    }
}

fn catalogue() -> Result<Option<Body>, Failure> {
    let mut warnings = scan::Warnings::default();
    let text = catalog::render(&skills(&mut warnings)?, &mut warnings);
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

fn body(name: &str) -> Result<Body, Failure> {
    let skills = skills(&mut scan::Warnings::default())?;
    let skill = skills.into_iter().find(|skill| skill.name == name);
    let skill = skill.ok_or_else(|| {
        Failure::Unavailable(format!(
            "there is no enabled skill `{name}`; `sectile section render skills/catalog` lists them"
        ))
    })?;
    let text = skill.body().map_err(Failure::Unavailable)?;
    let file = skill.file;
    Ok(Body::new(text)
        .attribute("name", skill.name)
        .attribute("path", file))
}

fn skills(warnings: &mut scan::Warnings) -> Result<Vec<scan::Skill>, Failure> {
    let config = config::parse(&host::config()).map_err(Failure::InvalidInput)?;
    let roots = host::mounts()
        .into_iter()
        .filter(|mount| mount.source == "skills");
    let roots: Vec<_> = roots.map(Into::into).collect();
    Ok(scan::scan(&roots, &config, warnings))
}

sectile_sdk::export_section!(Skills);
