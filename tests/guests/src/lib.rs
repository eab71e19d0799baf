//! Guest components that misbehave on purpose.
