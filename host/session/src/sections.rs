//! Which sections are enabled, and in which order (WS-1).

use crate::error::SessionError;
use crate::host::PluginEntry;
use sectile_manifest::{Placement, SectionRequest};
use sectile_model::SectionSource;
use sectile_prompt::{
    Locale, LocaleError, NoticeTexts, Notices, OnError, Profile, SectionSpec, TokenCap, WorldState,
};
use sectile_registry::{ErrorPolicy, Source, Standing};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A section that is sent, or would be if its plugin were in order.
#[derive(Debug, Clone)]
pub struct EnabledSection {
    /// What it is, and who renders it.
    pub spec: SectionSpec,
    /// Where it stands.
    pub placement: Placement,
    /// Position of its plugin.
    pub(crate) plugin: usize,
}

/// The sections in the order of the request: those of the system context, then
/// the profile's, then those of further plugins in the order of the workspace's file.
pub(crate) fn enabled_sections(
    profile: &Profile,
    plugins: &[PluginEntry],
) -> Result<(Vec<EnabledSection>, WorldState), SessionError> {
    let mut enabled = Vec::new();
    for (n, plugin) in plugins.iter().enumerate() {
        if plugin.candidate.standing != Standing::Ready {
            continue;
        }
        for request in &plugin.candidate.manifest.sections {
            // Of the bundled plugins, a profile names the sections it wants.
            if plugin.candidate.source != Source::Bundled || profile.sections.contains(&request.id)
            {
                enabled.push(section(n, plugin, request)?);
            }
        }
    }
    let specs = |placement| {
        let of_placement = enabled
            .iter()
            .filter(move |s: &&EnabledSection| s.placement == placement);
        of_placement.map(|s| s.spec.clone()).collect::<Vec<_>>()
    };
    let (world, system) = (specs(Placement::WorldState), specs(Placement::System));
    let world = WorldState::new(&profile.sections, world, &system, profile.locale.clone())?;
    if let Some(missing) = profile.sections.iter().find(|id| world.get(id).is_none()) {
        return Err(SessionError::UnknownSection(missing.to_string()));
    }
    // System sections have no place in the World State and come first.
    enabled.sort_by_key(|section| {
        world
            .sections()
            .iter()
            .position(|spec| spec.id() == section.spec.id())
    });
    Ok((enabled, world))
}

fn section(
    n: usize,
    plugin: &PluginEntry,
    request: &SectionRequest,
) -> Result<EnabledSection, SessionError> {
    let candidate = &plugin.candidate;
    let manifest = &candidate.manifest;
    let notices =
        Notices::new(&request.tag, notices(request)).map_err(|why| SessionError::Notice {
            plugin: manifest.plugin.id.to_string(),
            why,
        })?;
    Ok(EnabledSection {
        spec: SectionSpec {
            source: Arc::new(SectionSource {
                section: request.id.clone(),
                plugin: manifest.plugin.id.clone(),
                version: manifest.plugin.version.to_string(),
                digest: candidate.digest,
            }),
            tag: request.tag.clone(),
            notices,
            max_tokens: match candidate.source {
                Source::Bundled => TokenCap::bundled(request.max_tokens),
                Source::File(_) => TokenCap::third_party(request.max_tokens),
            },
            on_error: match candidate.on_error {
                ErrorPolicy::Fail => OnError::Fail,
                ErrorPolicy::Omit => OnError::Omit,
            },
        },
        placement: request.placement,
        plugin: n,
    })
}

/// The manifest's notices; one for a language tag that is none is never asked for.
fn notices(request: &SectionRequest) -> BTreeMap<Locale, NoticeTexts> {
    let notice = |(locale, texts): (&String, &sectile_manifest::Notices)| {
        let texts = NoticeTexts {
            replaced: texts.replaced.clone(),
            expired: texts.expired.clone(),
        };
        Ok::<_, LocaleError>((locale.parse()?, texts))
    };
    request
        .notices
        .iter()
        .filter_map(|entry| notice(entry).ok())
        .collect()
}
