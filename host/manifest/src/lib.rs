//! The plugin manifest: plugin.toml, and the custom section that carries it in a component.
