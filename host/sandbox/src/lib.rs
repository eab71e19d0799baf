//! Compiles and runs plugin components with nothing but what they were granted.
