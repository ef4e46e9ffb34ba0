//! A member needs longer: it renews its locks (KIP-1222). Nothing is written for it.

use std::error::Error;

use share_state_core::ids::SharePartitionKey;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::record_state::AcknowledgeType;
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireRequest, FetchedBatch, SharePartition,
};
use share_state_core::time::LockTime;

fn main() -> Result<(), Box<dyn Error>> {
    let config = ShareGroupConfig {
        record_lock_duration_ms: 30_000,
        ..ShareGroupConfig::default()
    };
    let key = SharePartitionKey::new(
        "workers",
        "5f3ff250-a9a1-4215-bb36-c84728fd60e8".parse()?,
        0,
    );
    let mut orders: SharePartition = SharePartition::new(key, 0, config)?;
    orders.initialize(ReadStateResult::starting_at(0))?;
    let fetched = [FetchedBatch::plain(0, 9)];
    let request = AcquireRequest::new("alice", 500, &fetched);
    orders.acquire(&request, LockTime(0))?;
    assert_eq!(orders.poll_timeout(), Some(LockTime(30_000)));

    let renewal = AcknowledgeBatch::all(0, 9, AcknowledgeType::Renew);
    let token = orders.acknowledge("alice", &[renewal], LockTime(20_000))?;
    assert_eq!(token, None, "there is nothing to write");
    assert_eq!(orders.poll_timeout(), Some(LockTime(50_000)));
    println!("the lock of alice runs out at {:?}", orders.poll_timeout());
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    main()
}
