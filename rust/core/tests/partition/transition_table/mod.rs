//! The table of transitions, case by case, and the page that is made from it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

#[cfg(test)]
mod cases;
#[cfg(test)]
mod page;
