//! Composes a workspace's context window from its plugins.
