//! The bundled runtime sections.
