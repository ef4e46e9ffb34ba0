//! A member needs longer: it renews its locks (KIP-1222). Nothing is written for it.

use std::error::Error;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::IntervalStore;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::record_state::AcknowledgeType;
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, FetchedBatch, SharePartition,
};
use share_state_core::time::LockTime;

fn main() -> Result<(), Box<dyn Error>> {
    let config = ShareGroupConfig {
        record_lock_duration_ms: 30_000,
        ..ShareGroupConfig::default()
    };
    let key = SharePartitionKey::new("workers", TopicId([7; 16]), 0);
    let mut orders = SharePartition::<IntervalStore>::new(key, 0, config)?;
    orders.initialize(ReadStateResult {
        state_epoch: 0,
        start_offset: 0,
        state_batches: vec![],
    })?;
    let request = AcquireRequest {
        member: "alice",
        mode: AcquireMode::BatchOptimized,
        batch_size: 500,
        max_records: 500,
        fetch_offset: 0,
        fetched: &[FetchedBatch::plain(0, 9)],
        aborted: None,
    };
    orders.acquire(&request, LockTime(0))?;
    assert_eq!(orders.poll_timeout(), Some(LockTime(30_000)));

    let renewal = AcknowledgeBatch {
        first: 0,
        last: 9,
        types: &[AcknowledgeType::Renew as i8],
    };
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
