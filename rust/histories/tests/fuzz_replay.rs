//! The lines of a history on any input: the committed corpus, and seeded mutations of it.
#![allow(
    clippy::unwrap_used,
    reason = "the bodies and helpers of fuzz targets assert"
)]

#[path = "../../proof/fuzz/bodies/history_lines.rs"]
mod history_lines;
#[path = "../../proof/fuzz/replay.rs"]
mod replay;

#[test]
fn lines_of_histories() {
    replay::replay("history_lines", history_lines::run, 20, 5_000);
}
