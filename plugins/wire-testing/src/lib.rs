//! What the tests of the provider adapters share: recorded answers, decoding in
//! every split, and arbitrary requests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod answer;
mod recorded;
mod requests;
mod splits;

pub use answer::{Answer, answer};
pub use recorded::{Recorded, recorded};
pub use requests::{block, message, request, requests, text, tool};
pub use splits::{Outcome, decode, in_every_split};
