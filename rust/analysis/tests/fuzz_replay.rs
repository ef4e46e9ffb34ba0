//! Tests that rows and a follower of the state topic take any input: the committed corpus, and seeded mutations of it.
#![allow(
    clippy::unwrap_used,
    reason = "the bodies and helpers of fuzz targets assert"
)]

#[path = "../../proof/fuzz/replay.rs"]
mod replay;
#[path = "../../proof/fuzz/bodies/state_follower.rs"]
mod state_follower;
#[path = "../../proof/fuzz/bodies/state_rows.rs"]
mod state_rows;

use replay::replay_some;

#[test]
fn rows_of_state_topics() {
    replay_some("state_rows", state_rows::run, 20, 300, 1_000);
}

#[test]
fn state_topics_that_are_followed() {
    replay_some("state_follower", state_follower::run, 10, 1_000, 3_000);
}
