//! The way of the data: sections rendered, sampled, prepared.

use crate::conversation::InMemoryConversation;
use crate::error::SessionError;
use crate::host::Host;
use crate::render::{RenderedSection, SectionFailure, Told};
use sectile_engine::{
    ContextInput, EngineError, PreparedModelCall, SpanSource, estimate_tokens, prepare,
};
use sectile_manifest::Placement;
use sectile_model::{Conversation, SectionId, SectionSource, SystemPart, ToolDefinition};
use sectile_prompt::{
    Body, Growth, OnError, Outcome, SampleError, SampleId, SectionGrowth, SectionSpec,
};
use sectile_sandbox::CancelToken;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A context window as it would be sent (CE-22).
#[derive(Debug)]
pub struct Composition {
    /// The request, its budget and its provenance.
    pub call: PreparedModelCall,
    /// How much of the conversation is World State, and how much of that no
    /// longer holds (WS-10a).
    pub growth: Growth,
    /// What the operator should know.
    pub warnings: Vec<String>,
}

/// What came of rendering the World State.
#[derive(Debug, Default)]
pub(crate) struct RenderedWorld {
    pub(crate) outcomes: BTreeMap<SectionId, Outcome>,
    pub(crate) warnings: Vec<String>,
    causes: BTreeMap<SectionId, &'static str>,
}

impl RenderedWorld {
    /// The error that ends the turn (WS-5), with the cause that the sandbox named.
    pub(crate) fn explain(&self, error: SampleError) -> SessionError {
        let cause = self.causes.get(&error.section).copied();
        SessionError::Section {
            cause: cause.unwrap_or("body_refused"),
            section: error.section.to_string(),
            code: error.code,
            reason: error.reason,
        }
    }
}

/// One part of a request, for people: what it is, where it lies, how large it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// `system`, `message` or `tool`.
    pub region: &'static str,
    /// Key, section, message id or tool.
    pub name: String,
    /// Who produced it, when a plugin did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<SectionSource>,
    /// First byte of the request's compact JSON.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// Estimated tokens.
    pub tokens: u64,
}

impl Host {
    /// Composes the context window that `conversation` would be sent with. With
    /// a `message` the user asks it first. The sample is taken into
    /// `conversation`; for a preview, give a copy.
    ///
    /// # Errors
    /// [`SessionError::Section`] when a section fails (WS-5); nothing is sampled then.
    pub fn compose(
        &self,
        conversation: &mut InMemoryConversation,
        message: Option<&str>,
        id: &SampleId,
    ) -> Result<Composition, SessionError> {
        let tools = self.tools().definitions(&[]);
        self.compose_with(conversation, message, id, &tools)
    }

    pub(crate) fn compose_with(
        &self,
        conversation: &mut InMemoryConversation,
        message: Option<&str>,
        id: &SampleId,
        tools: &[ToolDefinition],
    ) -> Result<Composition, SessionError> {
        let told = Told {
            query: message,
            cancel: CancelToken::new(),
        };
        let (system, mut warnings) = self.system(&told)?;
        let world = self.render_world(&told);
        let mut next = conversation.clone();
        if let Some(message) = message {
            next.ask(message);
        }
        let omitted = next
            .sample(&self.world, &world.outcomes, id)
            .map_err(|error| world.explain(error))?;
        warnings.splice(0..0, self.warnings());
        warnings.extend(world.warnings);
        warnings.extend(
            omitted
                .iter()
                .map(|error| format!("{error}; it counts as unchanged")),
        );
        let call = self.prepare(&system, next.conversation(), tools)?;
        let growth = self.world.growth(&next.conversation().items);
        warnings.extend(growth.sections.iter().filter_map(SectionGrowth::hint));
        *conversation = next;
        Ok(Composition {
            call,
            growth,
            warnings,
        })
    }

    /// The three regions as one request, under the profile's rules.
    pub(crate) fn prepare(
        &self,
        system: &[SystemPart],
        conversation: &Conversation,
        tools: &[ToolDefinition],
    ) -> Result<PreparedModelCall, EngineError> {
        prepare(&ContextInput {
            model: &self.model,
            compact_rule: self.profile.compact_rule,
            displaced: self.profile.displaced,
            system,
            conversation,
            tools,
        })
    }

    /// The system context: the agent's system prompt, then the system sections.
    pub(crate) fn system(
        &self,
        told: &Told<'_>,
    ) -> Result<(Vec<SystemPart>, Vec<String>), SessionError> {
        let (mut system, mut warnings) = (vec![self.profile.system_part()], Vec::new());
        for rendered in self.render_all(Placement::System, told) {
            warnings.extend(rendered.named_warnings());
            system.extend(self.system_part(rendered, &mut warnings)?);
        }
        Ok((system, warnings))
    }

    /// The sections of the World State, rendered once (WS-1).
    pub(crate) fn render_world(&self, told: &Told<'_>) -> RenderedWorld {
        let mut world = RenderedWorld::default();
        for rendered in self.render_all(Placement::WorldState, told) {
            world.warnings.extend(rendered.named_warnings());
            let section = rendered.section.spec.id().clone();
            let outcome = match rendered.body {
                Ok(Some(body)) => Outcome::Present(body),
                Ok(None) => Outcome::Absent,
                Err(failure) => {
                    world.causes.insert(section.clone(), failure.cause);
                    Outcome::Failed(failure.reason)
                }
            };
            world.outcomes.insert(section, outcome);
        }
        world
    }

    /// A section in the system context: a part of its own, in its marker.
    fn system_part(
        &self,
        rendered: RenderedSection,
        warnings: &mut Vec<String>,
    ) -> Result<Option<SystemPart>, SessionError> {
        let spec = &rendered.section.spec;
        let content = match rendered.body {
            Ok(Some(body)) if !body.text.trim().is_empty() => {
                self.system_content(spec, &body).map(Some)
            }
            Ok(_) => Ok(None),
            Err(failure) => Err(failure),
        };
        match content {
            Ok(content) => Ok(content.map(|content| SystemPart {
                key: spec.id().to_string(),
                content,
                source: Some(Arc::clone(&spec.source)),
            })),
            Err(failure) if spec.on_error == OnError::Omit => {
                warnings.push(format!("{}: {}; it is left out", spec.id(), failure.reason));
                Ok(None)
            }
            Err(failure) => Err(failure.of(&rendered.section)),
        }
    }
}

impl Host {
    /// The marked body, when it is within the section's ceiling (WS-14).
    fn system_content(&self, spec: &SectionSpec, body: &Body) -> Result<String, SectionFailure> {
        let refused = |reason: String| SectionFailure {
            cause: "body_refused",
            reason,
        };
        let content = self
            .world
            .wrap(spec, body)
            .map_err(|e| refused(e.to_string()))?;
        let (tokens, limit) = (estimate_tokens(&content), spec.max_tokens.get());
        if tokens > limit {
            return Err(refused(format!(
                "it has about {tokens} tokens and may have {limit}; it is never cut"
            )));
        }
        Ok(content)
    }
}

impl Composition {
    /// The parts of the request, in their order.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let spans = self.call.spans();
        let part = |span: &sectile_engine::Span<'_>| {
            let (region, name, plugin) = match &span.source {
                SpanSource::Frame => return None,
                SpanSource::System { key, section } => ("system", (*key).to_owned(), *section),
                SpanSource::Tool { name } => ("tool", (*name).to_owned(), None),
                SpanSource::Message { index, provenance } => {
                    let section = provenance.section.as_deref();
                    let name = section.map_or_else(
                        || format!("message {}", index + 1),
                        |s| s.section.to_string(),
                    );
                    ("message", name, section)
                }
            };
            Some(Part {
                region,
                name,
                plugin: plugin.cloned(),
                start: span.start,
                end: span.end,
                tokens: (span.end - span.start).div_ceil(4),
            })
        };
        spans.iter().filter_map(part).collect()
    }
}
