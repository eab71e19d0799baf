//! Rendering sections: one alone, or all side by side.

use crate::config::SKILLS;
use crate::error::SessionError;
use crate::host::{Host, PluginEntry, PluginState};
use crate::sections::EnabledSection;
use sectile_manifest::Placement;
use sectile_prompt::{Body, SectionSpec, SkillBody};
use sectile_registry::Standing;
use sectile_sandbox::{
    CallReport, CancelToken, LogLevel, LogSource, Outcome, SandboxError, SectionBody,
};
use std::thread;

/// One section, rendered.
#[derive(Debug)]
pub struct RenderedSection {
    /// The section.
    pub section: EnabledSection,
    /// The body; `None` when it is absent now.
    pub body: Result<Option<Body>, SectionFailure>,
    /// For the operator: what the plugin warned of, and what it was refused.
    pub warnings: Vec<String>,
    /// What it used.
    pub report: CallReport,
}

/// What the sections of one sample are told.
#[derive(Debug, Clone)]
pub(crate) struct Told<'a> {
    /// The user's request.
    pub(crate) query: Option<&'a str>,
    /// Ends the rendering.
    pub(crate) cancel: CancelToken,
}

/// Why a section could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionFailure {
    /// Code of the cause, the sandbox's or the plugin's own.
    pub cause: &'static str,
    /// What is wrong, one line.
    pub reason: String,
}

impl RenderedSection {
    /// The warnings with the section's name.
    pub(crate) fn named_warnings(&self) -> Vec<String> {
        let id = self.section.spec.id();
        let warnings = self.warnings.iter();
        warnings.map(|warning| format!("{id}: {warning}")).collect()
    }
}

impl SectionFailure {
    /// The error that ends the turn (WS-5).
    #[must_use]
    pub fn of(self, section: &EnabledSection) -> SessionError {
        SessionError::Section {
            section: section.spec.id().to_string(),
            code: section.spec.error_code(),
            reason: self.reason,
            cause: self.cause,
        }
    }
}

impl From<&SandboxError> for SectionFailure {
    fn from(error: &SandboxError) -> Self {
        Self {
            cause: error.code(),
            reason: error.to_string(),
        }
    }
}

impl Host {
    /// Renders the section called `id` alone.
    ///
    /// # Errors
    /// [`SessionError`] when there is no such section or its plugin may not run.
    pub fn render(&self, id: &str, query: Option<&str>) -> Result<RenderedSection, SessionError> {
        let told = Told {
            query,
            cancel: CancelToken::new(),
        };
        match self
            .sections
            .iter()
            .find(|section| section.spec.id().as_str() == id)
        {
            Some(section) => Ok(self.render_one(section, &told)),
            None => Err(self.why_not(id)),
        }
    }

    /// The enabled skill `name`, as its plugin reads it now; the error is one line.
    pub(crate) fn skill(&self, name: &str) -> Result<SkillBody, String> {
        let told = Told {
            query: None,
            cancel: CancelToken::new(),
        };
        let plugin = self.plugin(SKILLS).map_err(|e| e.to_string())?;
        let sections = match &plugin.state {
            PluginState::Loaded(loaded) => loaded.sections.as_ref(),
            PluginState::Blocked | PluginState::Broken(_) => None,
        };
        let loaded = sections.ok_or_else(|| format!("the plugin {SKILLS} is not loaded"))?;
        let call = self
            .call(&plugin.candidate, &told)
            .map_err(|e| e.to_string())?;
        let body = loaded.render(&format!("skills/body/{name}"), &call).result;
        let body = body.map_err(|e| e.to_string())?.ok_or("it has no body")?;
        let attribute = |name: &str| {
            let found = body.attributes.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        Ok(SkillBody {
            name: attribute("name"),
            path: attribute("path"),
            text: body.text,
        })
    }

    /// The message that shows `body` for the first time.
    ///
    /// # Errors
    /// [`SessionError::Marker`] when an attribute is malformed.
    pub fn wrap(&self, spec: &SectionSpec, body: &Body) -> Result<String, SessionError> {
        Ok(self.world.wrap(spec, body)?)
    }

    /// Renders every enabled section of one placement, each on a thread of its
    /// own: no section waits for another, and the order of the result is fixed
    /// (WS-1).
    pub(crate) fn render_all(&self, placement: Placement, told: &Told<'_>) -> Vec<RenderedSection> {
        thread::scope(|scope| {
            let start = |section| scope.spawn(move || self.render_one(section, told));
            let sections = self.sections.iter().filter(|s| s.placement == placement);
            let running: Vec<_> = sections.map(|s| (s, start(s))).collect();
            let finish = |(section, thread): (
                &EnabledSection,
                thread::ScopedJoinHandle<'_, RenderedSection>,
            )| {
                thread
                    .join()
                    .unwrap_or_else(|_| failed(section, (&SandboxError::Cancelled).into()))
            };
            running.into_iter().map(finish).collect()
        })
    }

    fn render_one(&self, section: &EnabledSection, told: &Told<'_>) -> RenderedSection {
        let Some(plugin) = self.plugins.get(section.plugin) else {
            return failed(section, (&SandboxError::Cancelled).into());
        };
        let sections = match &plugin.state {
            PluginState::Loaded(loaded) => loaded.sections.as_ref(),
            PluginState::Broken(error) => return failed(section, error.into()),
            PluginState::Blocked => None,
        };
        let Some(loaded) = sections else {
            return failed(
                section,
                (&SandboxError::MissingExport("sectile:plugin/section@0.1.0")).into(),
            );
        };
        let call = match self.call(&plugin.candidate, told) {
            Ok(call) => call,
            Err(error) => {
                let reason = error.to_string();
                let cause = if error.is_sandbox_refusal() {
                    "unsupported_capability"
                } else {
                    "grant_error"
                };
                return failed(section, SectionFailure { cause, reason });
            }
        };
        rendered(section, loaded.render(section.spec.id().as_str(), &call))
    }

    /// Why a section that is not enabled cannot be rendered.
    fn why_not(&self, id: &str) -> SessionError {
        let offers = |plugin: &&PluginEntry| {
            plugin
                .candidate
                .manifest
                .sections
                .iter()
                .any(|s| s.id.as_str() == id)
        };
        match self
            .plugins
            .iter()
            .find(offers)
            .map(|plugin| &plugin.candidate)
        {
            Some(candidate) => match &candidate.standing {
                Standing::ApprovalRequired { why } => SessionError::ApprovalRequired {
                    plugin: candidate.id().to_string(),
                    why: why.clone(),
                },
                Standing::Disabled => SessionError::Disabled(candidate.id().to_string()),
                Standing::Ready => SessionError::UnknownSection(id.to_owned()),
            },
            None => SessionError::UnknownSection(sectile_sandbox::one_line(id)),
        }
    }
}

fn rendered(section: &EnabledSection, outcome: Outcome<Option<SectionBody>>) -> RenderedSection {
    let Outcome { result, report } = outcome;
    let mut warnings = Vec::new();
    let body = match result {
        Ok(Some(body)) => {
            warnings.extend(body.warnings);
            Ok(Some(Body {
                text: body.text,
                attributes: body.attributes,
            }))
        }
        Ok(None) => Ok(None),
        Err(error) => {
            if let SandboxError::Trap { backtrace, .. } = &error {
                warnings.extend(backtrace.iter().map(|frame| format!("trap: {frame}")));
            }
            Err(SectionFailure::from(&error))
        }
    };
    warnings.extend(spoken(&report));
    RenderedSection {
        section: section.clone(),
        body,
        warnings,
        report,
    }
}

/// What the plugin logged as a warning or worse, and what it was refused.
pub(crate) fn spoken(report: &CallReport) -> Vec<String> {
    let loud = report
        .log
        .iter()
        .filter(|line| matches!(line.source, LogSource::Log(level) if level >= LogLevel::Warn));
    let mut warnings: Vec<_> = loud.map(|line| line.text.clone()).collect();
    if report.suppressed_log_lines > 0 {
        warnings.push(format!(
            "{} more log lines were left out",
            report.suppressed_log_lines
        ));
    }
    let refused = report.refusals.iter();
    warnings.extend(
        refused.map(|r| format!("refused: {}: {}", sectile_sandbox::one_line(&r.what), r.why)),
    );
    warnings
}

fn failed(section: &EnabledSection, failure: SectionFailure) -> RenderedSection {
    RenderedSection {
        section: section.clone(),
        body: Err(failure),
        warnings: Vec::new(),
        report: CallReport::default(),
    }
}
