//! The fuzz targets of share partitions on the stable compiler: the committed corpus, and seeded mutations of it.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "the bodies of fuzz targets assert"
)]

#[path = "../../proof/fuzz/bodies/engine_twin.rs"]
mod engine_twin;
#[path = "../../proof/fuzz/replay.rs"]
mod replay;
#[path = "../../proof/fuzz/bodies/share_partition.rs"]
mod share_partition;
#[path = "../../proof/fuzz/bodies/share_script.rs"]
mod share_script;

use replay::replay_some;

#[test]
fn the_engine_and_its_twin() {
    // Every question is asked after every operation of three stores.
    replay_some("engine_twin", engine_twin::run, 30, 100, 200);
}

#[test]
fn share_partitions() {
    replay_some("share_partition", share_partition::run, 30, 500, 1_000);
}
