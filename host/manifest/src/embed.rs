//! The manifest inside the component (PL-1): one custom section, found without
//! running or even compiling anything.

use crate::manifest::{Manifest, ManifestError};
use std::borrow::Cow;
use wasm_encoder::{CustomSection, Encode as _};
use wasmparser::{Encoding, Parser, Payload};

/// Name of the custom section.
pub const SECTION_NAME: &str = "sectile:manifest";
/// Bytes that a manifest may have.
const MAX_BYTES: usize = 64 << 10;

/// Why a manifest could not be put in or taken out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The bytes are a core module.
    #[error(
        "this is a core WebAssembly module, not a component; build it for wasm32-wasip2 or wrap it with a component tool"
    )]
    CoreModule,
    /// The bytes are no component.
    #[error("this is not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// There is no manifest.
    #[error(
        "the component carries no manifest; embed its plugin.toml in the custom section `sectile:manifest`"
    )]
    NoManifest,
    /// There is more than one.
    #[error("the component carries more than one manifest")]
    TwoManifests,
    /// It is too large.
    #[error("the component's manifest has {0} bytes; at most {MAX_BYTES} are allowed")]
    TooLarge(usize),
    /// It breaks a rule.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl EmbedError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::CoreModule => "core_module",
            Self::NotAComponent(_) => "not_a_component",
            Self::NoManifest => "no_manifest",
            Self::TwoManifests | Self::TooLarge(_) => "invalid_manifest",
            Self::Manifest(error) => error.code(),
        }
    }
}

/// `component` with `manifest` in it.
///
/// # Errors
/// [`EmbedError`] when it is no component or carries a manifest already.
pub fn embed(component: &[u8], manifest: &Manifest) -> Result<Vec<u8>, EmbedError> {
    match find(component) {
        Err(EmbedError::NoManifest) => {}
        Err(error) => return Err(error),
        Ok(_) => return Err(EmbedError::TwoManifests),
    }
    let json = manifest.to_json();
    if json.len() > MAX_BYTES {
        return Err(EmbedError::TooLarge(json.len()));
    }
    let section = CustomSection {
        name: Cow::Borrowed(SECTION_NAME),
        data: Cow::Borrowed(&json),
    };
    let mut with = component.to_vec();
    // A custom section has the same form in components as in modules: id 0.
    with.push(0);
    section.encode(&mut with);
    Ok(with)
}

/// The manifest that `component` carries.
///
/// # Errors
/// [`EmbedError`].
pub fn extract(component: &[u8]) -> Result<Manifest, EmbedError> {
    let json = find(component)?;
    Ok(Manifest::from_json(json)?)
}

fn find(component: &[u8]) -> Result<&[u8], EmbedError> {
    let malformed = |e: wasmparser::BinaryReaderError| EmbedError::NotAComponent(e.to_string());
    let mut found = None;
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        match payload.map_err(malformed)? {
            Payload::Version { encoding, .. } => {
                if depth == 0 && encoding == Encoding::Module {
                    return Err(EmbedError::CoreModule);
                }
                depth += 1;
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            // A nested component's section is not this component's word.
            Payload::CustomSection(section) if depth == 1 && section.name() == SECTION_NAME => {
                if section.data().len() > MAX_BYTES {
                    return Err(EmbedError::TooLarge(section.data().len()));
                }
                if found.replace(section.data()).is_some() {
                    return Err(EmbedError::TwoManifests);
                }
            }
            _ => {}
        }
    }
    found.ok_or(EmbedError::NoManifest)
}
