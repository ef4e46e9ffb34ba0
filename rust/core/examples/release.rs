//! A member is gone: all that it holds is given back, and the next delivery of it counts 2.

use std::error::Error;

use share_state_core::ids::SharePartitionKey;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{NoOpStatePersister, ReadStateResult};
use share_state_core::share_partition::{AcquireRequest, FetchedBatch, SharePartition};
use share_state_core::time::LockTime;

fn main() -> Result<(), Box<dyn Error>> {
    let key = SharePartitionKey::new(
        "workers",
        "5f3ff250-a9a1-4215-bb36-c84728fd60e8".parse()?,
        0,
    );
    let mut orders: SharePartition = SharePartition::new(key, 0, ShareGroupConfig::default())?;
    orders.initialize(ReadStateResult::starting_at(0))?;
    let fetched = [FetchedBatch::plain(0, 9)];
    let ask = |member| AcquireRequest::new(member, 500, &fetched);
    orders.acquire(&ask("alice"), LockTime(0))?;

    let released = orders.release("alice", LockTime(5));
    assert_eq!(released, 10);
    // A persister that answers at once is settled with instead of polled for.
    orders.settle(&mut NoOpStatePersister);

    let again = orders.acquire(&ask("bob"), LockTime(6))?;
    assert_eq!(again.len(), 1);
    assert!(again.iter().all(|range| range.delivery_count == 2));
    println!("bob has {again:?}");
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    main()
}
