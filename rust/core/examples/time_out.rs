//! A member stalls: its lock runs out and the record is delivered again, up to the delivery limit. Then it is archived.

use std::error::Error;

use share_state_core::ids::SharePartitionKey;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{NoOpStatePersister, ReadStateResult};
use share_state_core::share_partition::{AcquireRequest, FetchedBatch, SharePartition};
use share_state_core::time::LockTime;

fn main() -> Result<(), Box<dyn Error>> {
    let config = ShareGroupConfig {
        delivery_count_limit: 2,
        ..ShareGroupConfig::default()
    };
    let key = SharePartitionKey::new(
        "workers",
        "5f3ff250-a9a1-4215-bb36-c84728fd60e8".parse()?,
        0,
    );
    let mut orders: SharePartition = SharePartition::new(key, 0, config)?;
    orders.initialize(ReadStateResult::starting_at(0))?;
    let fetched = [FetchedBatch::plain(0, 0)];
    let request = AcquireRequest::new("alice", 500, &fetched);

    // The caller has the clock: it asks when to come back, and comes.
    let mut now = LockTime(0);
    for delivery in 1..=2 {
        let acquired = orders.acquire(&request, now)?;
        assert!(acquired.iter().all(|one| one.delivery_count == delivery));
        now = orders.poll_timeout().ok_or("there is a lock")?;
        assert_eq!(orders.handle_timeout(now), 1);
        orders.settle(&mut NoOpStatePersister);
        println!("delivery {delivery} ran out at {now:?}");
    }
    assert_eq!(orders.acquire(&request, now)?, []);
    assert_eq!(orders.start_offset(), 1, "the poison record is passed over");
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    main()
}
