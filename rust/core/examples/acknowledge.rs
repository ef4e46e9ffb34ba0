//! A member tells of each record what became of it, and a persister keeps that: only then does it count.

use std::error::Error;

use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::record_state::AcknowledgeType;
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireRequest, FetchedBatch, SharePartition,
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
    let fetched = [FetchedBatch::plain(0, 3)];
    let request = AcquireRequest::new("alice", 500, &fetched);
    orders.acquire(&request, LockTime(0))?;

    // One type for each offset: 0 and 1 are done, 2 is for somebody else, 3 is for nobody ever again.
    let types = [
        AcknowledgeType::Accept as i8,
        AcknowledgeType::Accept as i8,
        AcknowledgeType::Release as i8,
        AcknowledgeType::Reject as i8,
    ];
    let (first, last) = (0, 3);
    let batch = AcknowledgeBatch {
        first,
        last,
        types: &types,
    };
    orders.acknowledge("alice", &[batch], LockTime(5))?;
    assert_eq!(orders.start_offset(), 0, "nothing counts before it is kept");

    // A persister would take the write; a refusal would undo the change.
    while let Some(write) = orders.poll_write() {
        println!("keep {:?}", write.state);
        orders.handle_write_result(write.token, KafkaCode::None, LockTime(6))?;
    }
    assert_eq!(orders.start_offset(), 2);
    assert_eq!(orders.next_fetch_offset(), 2);
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    main()
}
