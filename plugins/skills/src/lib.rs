//! The bundled skills sections.
