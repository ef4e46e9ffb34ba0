//! The fuzz targets on the stable compiler: the committed corpus, and a fixed number of seeded mutations of it.

#[path = "../../proof/fuzz/bodies/batch_headers.rs"]
mod batch_headers;
#[path = "../../proof/fuzz/bodies/fetch_answer.rs"]
mod fetch_answer;
#[path = "../../proof/fuzz/bodies/group_record.rs"]
mod group_record;
#[path = "../../proof/fuzz/bodies/message.rs"]
mod message;
#[path = "../../proof/fuzz/bodies/protocol.rs"]
mod protocol;
#[path = "../../proof/fuzz/bodies/record_batch.rs"]
mod record_batch;
#[path = "../../proof/fuzz/replay.rs"]
mod replay;
#[path = "../../proof/fuzz/bodies/segment.rs"]
mod segment;
#[path = "../../proof/fuzz/bodies/state_record.rs"]
mod state_record;

use replay::replay;

#[test]
fn state_records() {
    replay("state_record", state_record::run, 34, 1_000);
}

#[test]
fn group_records() {
    replay("group_record", group_record::run, 21, 1_000);
}

#[test]
fn messages() {
    replay("message", message::run, 55, 1_000);
}

#[test]
fn messages_by_table() {
    replay("protocol", protocol::run, 90, 1_000);
}

#[test]
fn record_batches() {
    replay("record_batch", record_batch::run, 56, 1_000);
}

#[test]
fn segments() {
    replay("segment", segment::run, 5, 5_000);
}

#[test]
fn fetch_answers() {
    replay("fetch_answer", fetch_answer::run, 28, 1_500);
}

#[test]
fn headers_of_batches() {
    replay("batch_headers", batch_headers::run, 25, 8_000);
}
