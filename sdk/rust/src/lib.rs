//! Write Sectile plugins in Rust.
