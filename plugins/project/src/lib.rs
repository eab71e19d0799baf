//! Sections that read the workspace: its layout and its AGENTS.md.

mod config;
mod instructions;
mod layout;

use sectile_sdk::{Body, Failure, Section, facts, host};

struct Project;

impl Section for Project {
    fn render(id: &str) -> Result<Option<Body>, Failure> {
        let places = Places::granted()?;
        match id {
            "runtime/user-project-context" => {
                let text = layout::render(&places)?;
                Ok(Some(Body::new(text).attribute("format_version", "1")))
            }
            "project/AGENTS.md" => {
                let config = config::parse(&host::config()).map_err(Failure::InvalidInput)?;
                let text = instructions::load(&places, &config)?;
                Ok(text.map(Body::new))
            }
            other => Err(Failure::InvalidInput(format!(
                "this plugin has no section `{other}`"
            ))),
        }
    }
}

sectile_sdk::export_section!(Project);

/// Where the project lies: its paths on the host, to be named, and where this
/// plugin may open them.
struct Places {
    working_directory: String,
    repository_root: Option<String>,
    workspace: String,
    /// The repository, when it is more than the workspace.
    repository: Option<String>,
}

impl Places {
    fn granted() -> Result<Self, Failure> {
        let workspace = facts::workspace();
        let open = |source: &str| host::mount(source).and_then(|mount| mount.guest_path);
        let missing = || Failure::Denied("the workspace was not granted to this plugin".to_owned());
        Ok(Self {
            working_directory: workspace.working_directory,
            repository_root: workspace.repository_root,
            workspace: open("workspace").ok_or_else(missing)?,
            repository: open("repository"),
        })
    }

    /// Whether the workspace is the repository itself.
    fn is_repository_root(&self) -> bool {
        self.repository_root.as_deref() == Some(self.working_directory.as_str())
    }
}
