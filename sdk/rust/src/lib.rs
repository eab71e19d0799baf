//! Write Sectile plugins in Rust.
//!
//! A section plugin is a type with [`Section`] on it, exported from a `cdylib`
//! crate that is built for `wasm32-wasip2`:
//!
//! ```
//! use sectile_sdk::{Body, Failure, Section, facts};
//!
//! struct Greeting;
//!
//! impl Section for Greeting {
//!     fn render(_id: &str) -> Result<Option<Body>, Failure> {
//!         let directory = facts::workspace().working_directory;
//!         Ok(Some(Body::new(format!("We work in {directory}."))))
//!     }
//! }
//!
//! sectile_sdk::export_section!(Greeting);
//! # fn main() {}
//! ```
//!
//! Tools are in [`tool`], provider adapters in [`provider`].
//!
//! Outside WebAssembly the crate compiles, so that a plugin's own rules can be
//! tested with `cargo test`; calling the host there is a panic.

pub mod files;
pub mod host;
pub mod provider;
pub mod tool;

/// What the host knows: workspace, model, policy and so on.
pub mod facts {
    pub use crate::bindings::sectile::plugin::facts::*;
}

pub use bindings::sectile::plugin::types::Failure;

#[doc(hidden)]
#[allow(
    unsafe_code,
    missing_docs,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "generated from the contract, which has the documentation"
)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/0.1",
        world: "section-plugin",
        pub_export_macro: true,
        default_bindings_module: "sectile_sdk::bindings",
        additional_derives: [PartialEq],
    });
}

#[doc(hidden)]
#[allow(
    unsafe_code,
    missing_docs,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "generated from the contract, which has the documentation"
)]
pub mod provider_bindings {
    wit_bindgen::generate!({
        path: "../../wit/0.1",
        world: "provider-plugin",
        pub_export_macro: true,
        export_macro_name: "export_provider_world",
        default_bindings_module: "sectile_sdk::provider_bindings",
        additional_derives: [PartialEq],
        with: {
            "sectile:plugin/types@0.1.0": crate::bindings::sectile::plugin::types,
            "sectile:plugin/host@0.1.0": crate::bindings::sectile::plugin::host,
        },
    });
}

#[doc(hidden)]
#[allow(
    unsafe_code,
    missing_docs,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "generated from the contract, which has the documentation"
)]
pub mod tool_bindings {
    wit_bindgen::generate!({
        path: "../../wit/0.1",
        world: "tool-plugin",
        pub_export_macro: true,
        export_macro_name: "export_tool_world",
        default_bindings_module: "sectile_sdk::tool_bindings",
        additional_derives: [PartialEq],
        with: {
            "sectile:plugin/types@0.1.0": crate::bindings::sectile::plugin::types,
            "sectile:plugin/host@0.1.0": crate::bindings::sectile::plugin::host,
        },
    });
}

use bindings::exports::sectile::plugin::section as contract;

/// A plugin that renders sections.
pub trait Section {
    /// Renders section `id` in full; `None` when it is absent now.
    ///
    /// # Errors
    /// A [`Failure`] whose text says what is wrong and what to do. I/O errors
    /// become one through `?`.
    fn render(id: &str) -> Result<Option<Body>, Failure>;
}

/// What a section renders. The host puts its marker around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    text: String,
    attributes: Vec<(String, String)>,
    warnings: Vec<String>,
}

impl Body {
    /// A body of `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Adds an attribute to the opening marker.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.attributes.push((name.into(), value.into()));
        self
    }

    /// Adds a warning for the operator; the model never sees it.
    #[must_use]
    pub fn warning(mut self, text: impl Into<String>) -> Self {
        self.warnings.push(text.into());
        self
    }

    /// Adds warnings for the operator.
    #[must_use]
    pub fn warnings(mut self, texts: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(texts);
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Self::Denied(error.to_string()),
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<Body> for contract::Body {
    fn from(body: Body) -> Self {
        let attribute = |(name, value)| contract::Attribute { name, value };
        Self {
            text: body.text,
            attributes: body.attributes.into_iter().map(attribute).collect(),
            warnings: body.warnings,
        }
    }
}

#[doc(hidden)]
pub fn render_for_export<S: Section>(id: &str) -> Result<Option<contract::Body>, Failure> {
    Ok(S::render(id)?.map(Into::into))
}

/// Exports a type with [`Section`] as the sections of this component.
///
/// Outside WebAssembly nothing is exported: linkers there refuse the
/// contract's symbol names.
#[macro_export]
macro_rules! export_section {
    ($section:ty) => {
        const _: () = {
            #[cfg(not(target_family = "wasm"))]
            const _: fn(
                &str,
            ) -> ::std::result::Result<
                ::std::option::Option<$crate::bindings::exports::sectile::plugin::section::Body>,
                $crate::Failure,
            > = $crate::render_for_export::<$section>;

            #[cfg(target_family = "wasm")]
            struct Exported;
            #[cfg(target_family = "wasm")]
            impl $crate::bindings::exports::sectile::plugin::section::Guest for Exported {
                fn render(
                    id: ::std::string::String,
                ) -> ::std::result::Result<
                    ::std::option::Option<
                        $crate::bindings::exports::sectile::plugin::section::Body,
                    >,
                    $crate::Failure,
                > {
                    $crate::render_for_export::<$section>(&id)
                }
            }
            #[cfg(target_family = "wasm")]
    $crate::bindings::export!(Exported with_types_in $crate::bindings);
        };
    };
}
