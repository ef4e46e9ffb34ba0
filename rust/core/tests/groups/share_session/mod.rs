//! Share sessions: scenarios with exact results, and random sequences beside the obvious twin.
#![allow(clippy::expect_used, reason = "helpers of tests may fail loudly")]

mod laws;
mod scenarios;
mod twin;
