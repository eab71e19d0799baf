//! The pure context engine: prune, project, normalise, budget, provenance.
