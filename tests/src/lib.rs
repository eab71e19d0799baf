//! Integration tests and benchmarks of the whole.
