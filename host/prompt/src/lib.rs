//! Profiles, markers and the World State diff: which section stands where, and what is sent.
