//! Decides which plugin runs in a workspace, and with which grants.
