//! Bytes an in-flight record when the window is torn to pieces: every record is a run by itself. Prints one JSON object a
//! case, counted by the allocator (bytes asked for, leases and the share partition's own parts included).
//!
//! * `acquired_singly`: each record a batch with a lock of its own;
//! * `renewed_singly`: one batch, then each record renewed by itself in an order without a pattern: a lock each again, and
//!   the nodes of the tree are filled by chance;
//! * `accepted_alternately`: one batch under one lock, every second record accepted and written;
//! * `acknowledged_unanswered`: as the first, and an unanswered write for each record; the writes' bytes are included;
//! * `empty`: the whole share partition with nothing in flight (records = 1).

#![allow(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]

use peak_alloc::PeakAlloc;
use share_state_benches::{
    ACCEPT, MEMBER, RENEW, acknowledge, acquired_at_once, acquired_singly, active, confirm,
    shuffled,
};
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};
use share_state_core::share_partition::SharePartition;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn case<S: InFlightStore>(
    (case, store): (&str, &str),
    records: i64,
    setup: impl FnOnce(i64) -> SharePartition<S>,
) {
    let before = ALLOCATOR.current_usage();
    let partition = Box::new(setup(records)); // its own size counts too
    let bytes = ALLOCATOR.current_usage() - before;
    println!(
        r#"{{"benchmark": "memory_{case}", "store": "{store}", "size": {records}, "unit": "bytes", "value": {:.1}}}"#,
        bytes as f64 / records as f64,
    );
    drop(partition);
}

fn cases<S: InFlightStore>(store: &str, records: i64) {
    case::<S>(("acquired_singly", store), records, |n| {
        acquired_singly(n, 1)
    });
    case::<S>(("renewed_singly", store), records, |n| {
        let mut partition = acquired_at_once(n);
        for offset in shuffled(n) {
            acknowledge(&mut partition, MEMBER, offset, offset, RENEW);
        }
        partition
    });
    case::<S>(("accepted_alternately", store), records, |n| {
        let mut partition = acquired_at_once(n);
        for offset in (1..n).step_by(2) {
            acknowledge(&mut partition, MEMBER, offset, offset, ACCEPT);
            confirm(&mut partition);
        }
        partition
    });
    case::<S>(("acknowledged_unanswered", store), records, |n| {
        let mut partition = acquired_singly(n, 1);
        let member = format!("{MEMBER}0");
        for offset in 0..n {
            acknowledge(&mut partition, &member, offset, offset, ACCEPT);
        }
        partition
    });
}

fn main() {
    case::<IntervalStore>(("empty", "tree"), 1, |_| active());
    case::<TwinStore>(("empty", "twin"), 1, |_| active());
    cases::<IntervalStore>("tree", 10_000);
    cases::<IntervalStore>("tree", 1_000_000);
    cases::<TwinStore>("twin", 10_000);
}
