//! The bundled project sections.
