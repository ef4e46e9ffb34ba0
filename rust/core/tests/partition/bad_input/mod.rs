//! Bad input for a share partition: every error is typed and names the field and the value, and nothing has changed.
//! The numbers in the names are those of the list of bad input: D2 acknowledgements, D3 fetches, offsets, times and
//! settings, D4 persisted states.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

#[cfg(test)]
mod acknowledge_form;
#[cfg(test)]
mod acknowledge_state;
#[cfg(test)]
mod fetch;
#[cfg(test)]
mod offsets_and_limits;
#[cfg(test)]
mod persisted_state;
#[cfg(test)]
mod support;
