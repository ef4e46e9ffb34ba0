//! The rows of made-up logs, good and bad.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: what they take apart is there"
)]

mod bad_input;
mod live_laws;
mod made_up;
mod state_laws;
mod watch_laws;
