//! The bundled plugins as bytes, built for WebAssembly by this crate's build script.
