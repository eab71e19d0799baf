//! Calling the sections of a plugin.

use crate::call::{Call, Outcome};
use crate::contract::{SectionPluginPre, sectile::plugin::types::Failure, section_export};
use crate::error::{FailureKind, PluginFailure, SandboxError, one_line};
use crate::sandbox::Plugin;
use crate::state::CallState;
use sectile_model::Digest;

/// A plugin that renders sections.
#[derive(Clone)]
pub struct SectionPlugin {
    plugin: Plugin,
    pre: SectionPluginPre<CallState>,
}

/// What a section rendered: text to be put into the host's marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionBody {
    /// The text.
    pub text: String,
    /// Attributes of the marker, in order.
    pub attributes: Vec<(String, String)>,
    /// For the operator, never for the model; control characters escaped.
    pub warnings: Vec<String>,
}

impl SectionPlugin {
    pub(crate) fn new(plugin: Plugin, pre: SectionPluginPre<CallState>) -> Self {
        Self { plugin, pre }
    }

    /// SHA-256 of the component.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.plugin.digest()
    }

    /// Renders section `id`, on this thread and in a store of its own. `None`:
    /// the section is absent now. Blocks for at most `call.limits.time` and one
    /// file operation more.
    pub fn render(&self, id: &str, call: &Call) -> Outcome<Option<SectionBody>> {
        self.plugin.call("section.render", call, |store| {
            let instance = self.pre.instantiate(&mut *store)?;
            let section = instance.sectile_plugin_section();
            let answer = section.call_render(&mut *store, id)?;
            Ok(match answer {
                Ok(body) => Ok(body.map(Into::into)),
                Err(failure) => Err(SandboxError::Plugin(failure.into())),
            })
        })
    }
}

impl From<section_export::Body> for SectionBody {
    fn from(body: section_export::Body) -> Self {
        let attributes = body.attributes.into_iter();
        Self {
            text: body.text,
            attributes: attributes.map(|a| (a.name, a.value)).collect(),
            warnings: body.warnings.iter().map(|w| one_line(w)).collect(),
        }
    }
}

impl From<Failure> for PluginFailure {
    fn from(failure: Failure) -> Self {
        let (kind, message) = match failure {
            Failure::InvalidInput(text) => (FailureKind::InvalidInput, text),
            Failure::Denied(text) => (FailureKind::Denied, text),
            Failure::Unavailable(text) => (FailureKind::Unavailable, text),
            Failure::Rejected(text) => (FailureKind::Rejected, text),
            Failure::Internal(text) => (FailureKind::Internal, text),
        };
        Self {
            kind,
            message: one_line(&message),
        }
    }
}
