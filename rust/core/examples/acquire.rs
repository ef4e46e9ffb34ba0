//! Two members take records from one partition: each record is locked by one of them.

use std::error::Error;

use share_state_core::ids::SharePartitionKey;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::share_partition::{
    AcquireMode, AcquireRequest, AcquiredRange, FetchedBatch, SharePartition,
};
use share_state_core::time::LockTime;

fn main() -> Result<(), Box<dyn Error>> {
    let key = SharePartitionKey::new(
        "workers",
        "5f3ff250-a9a1-4215-bb36-c84728fd60e8".parse()?,
        0,
    );
    let mut orders: SharePartition = SharePartition::new(key, 0, ShareGroupConfig::default())?;
    orders.initialize(ReadStateResult::starting_at(0))?;

    // The leader reads the log from where the share partition says, and offers what it has read.
    let fetched = [FetchedBatch::plain(0, 9)];
    let alice = AcquireRequest {
        mode: AcquireMode::RecordLimit,
        ..AcquireRequest::new("alice", 4, &fetched)
    };
    let alice = orders.acquire(&alice, LockTime(0))?;
    let bob = AcquireRequest::new("bob", 500, &fetched);
    let bob = orders.acquire(&bob, LockTime(1))?;

    assert_eq!(offsets(&alice), [(0, 3)]);
    assert_eq!(offsets(&bob), [(4, 9)]);
    assert_eq!(orders.next_fetch_offset(), 10);
    println!("alice has {alice:?}, bob has {bob:?}");
    Ok(())
}

fn offsets(acquired: &[AcquiredRange]) -> Vec<(i64, i64)> {
    let ends = |one: &AcquiredRange| (one.range.first, one.range.last);
    acquired.iter().map(ends).collect()
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    main()
}
