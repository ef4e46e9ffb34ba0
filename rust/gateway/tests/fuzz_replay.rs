//! The reads of an upstream, and the bytes of clients, on any input: the committed corpus, and seeded mutations of it.
#![allow(
    clippy::unwrap_used,
    reason = "the bodies and helpers of fuzz targets assert"
)]

#[path = "../../proof/fuzz/bodies/batch_ring.rs"]
mod batch_ring;
#[path = "../../proof/fuzz/bodies/node.rs"]
mod node;
#[path = "../../proof/fuzz/replay.rs"]
mod replay;

#[test]
fn reads_of_an_upstream() {
    replay::replay("batch_ring", batch_ring::run, 15, 5_000);
}

#[test]
fn bytes_of_clients() {
    replay::replay_some("node", node::run, 13, 1_500, 4_000);
}
