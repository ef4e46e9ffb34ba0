//! A leader whose acknowledgements survive a crash: the engine decides, and the store keeps each write before it is confirmed.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{InitializeState, ReadState};
use share_state_core::record_state::AcknowledgeType;
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireRequest, FetchedBatch, SharePartition,
};
use share_state_core::time::{LockTime, WallTime};
use share_state_log::{StateStore, StoreConfig};

const WALL: WallTime = WallTime(1_700_000_000_000);

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let key = SharePartitionKey::new(
        "workers",
        "5f3ff250-a9a1-4215-bb36-c84728fd60e8".parse()?,
        0,
    );

    let store = open(directory.path())?;
    let first = InitializeState {
        state_epoch: 1,
        start_offset: 0,
    };
    store.initialize(&key, &first, WALL)?;
    let mut orders = lead(&store, &key, 1)?;
    let fetched = [FetchedBatch::plain(0, 9)];
    let request = AcquireRequest::new("alice", 500, &fetched);
    orders.acquire(&request, LockTime(0))?;
    let accepted = AcknowledgeBatch::all(0, 4, AcknowledgeType::Accept);
    orders.acknowledge("alice", &[accepted], LockTime(5))?;
    while let Some(write) = orders.poll_write() {
        // With `SyncPolicy::Always`, the default, the write is on the disk when this returns.
        let code = match store.write(&key, &write.state, WALL) {
            Ok(()) => KafkaCode::None,
            Err(error) => error.kafka_code(),
        };
        orders.handle_write_result(write.token, code, LockTime(6))?;
    }
    drop((orders, store));

    let store = open(directory.path())?;
    let orders = lead(&store, &key, 2)?;
    assert_eq!(orders.start_offset(), 5);
    println!("the next leader starts at {}", orders.start_offset());
    Ok(())
}

fn open(path: &Path) -> Result<StateStore, Box<dyn Error>> {
    let config = StoreConfig::default();
    Ok(StateStore::open(path, &config, |_| {
        ControlFlow::Continue(())
    })?)
}

/// Share partition with the state that the store has; older leaders are fenced.
fn lead(
    store: &StateStore,
    key: &SharePartitionKey,
    leader_epoch: i32,
) -> Result<SharePartition, Box<dyn Error>> {
    let config = ShareGroupConfig::default();
    let mut orders: SharePartition = SharePartition::new(key.clone(), leader_epoch, config)?;
    orders.initialize(store.read(key, &ReadState { leader_epoch }, WALL)?)?;
    Ok(orders)
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    main()
}
