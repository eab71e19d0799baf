//! The bundled plugins as bytes (PL-18): they are part of the program, pinned
//! by its build, and carry their manifests like any other plugin.

/// A component with its manifest.
pub type Component = &'static [u8];

/// The bundled plugins.
pub const BUNDLED: [Component; 9] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/project.wasm")),
    include_bytes!(concat!(env!("OUT_DIR"), "/skills.wasm")),
    include_bytes!(concat!(env!("OUT_DIR"), "/runtime.wasm")),
    include_bytes!(concat!(env!("OUT_DIR"), "/files.wasm")),
    include_bytes!(concat!(env!("OUT_DIR"), "/edit.wasm")),
    include_bytes!(concat!(env!("OUT_DIR"), "/search.wasm")),
    include_bytes!(concat!(env!("OUT_DIR"), "/todo.wasm")),
    include_bytes!(concat!(env!("OUT_DIR"), "/anthropic.wasm")),
    include_bytes!(concat!(env!("OUT_DIR"), "/openai-chat.wasm")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use wasmparser::{Parser, Payload};

    fn imports(component: Component) -> Vec<String> {
        let mut names = Vec::new();
        let mut depth = 0;
        for payload in Parser::new(0).parse_all(component) {
            match payload.unwrap() {
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth -= 1,
                Payload::ComponentImportSection(section) if depth == 1 => {
                    names.extend(section.into_iter().map(|i| i.unwrap().name.name.to_owned()));
                }
                _ => {}
            }
        }
        names
    }

    #[test]
    fn pl_18_each_bundled_plugin_asks_for_what_its_manifest_says_and_imports_no_network() {
        let mut asked = Vec::new();
        for component in BUNDLED {
            let manifest = sectile_manifest::extract(component).unwrap();
            asked.push((
                manifest.plugin.id.to_string(),
                manifest.capability.filesystem.len(),
            ));
            let imports = imports(component);
            assert!(!imports.is_empty());
            for name in imports {
                assert!(
                    [
                        "sectile:plugin/",
                        "wasi:io/",
                        "wasi:cli/",
                        "wasi:clocks/",
                        "wasi:filesystem/",
                        "wasi:random/"
                    ]
                    .iter()
                    .any(|package| name.starts_with(package)),
                    "{name}"
                );
            }
        }
        assert_eq!(
            asked,
            [
                ("sectile/project".to_owned(), 2),
                ("sectile/skills".to_owned(), 1),
                ("sectile/runtime".to_owned(), 0),
                ("sectile/files".to_owned(), 1),
                ("sectile/edit".to_owned(), 1),
                ("sectile/search".to_owned(), 1),
                ("sectile/todo".to_owned(), 0),
                ("sectile/anthropic-messages".to_owned(), 0),
                ("sectile/openai-chat".to_owned(), 0),
            ]
        );
    }

    #[test]
    fn bundled_plugins_stay_small() {
        for component in BUNDLED {
            assert!(component.len() < 2 << 20, "{} bytes", component.len());
        }
    }
}
