//! Names, locks and neighbours of the log, and what it does with what others wrote.

use std::ops::ControlFlow;

use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::InitializeState;
use share_state_wire::record_batch::{Compression, NewRecord, encode_marked_batch};

use super::*;
use crate::config::StoreConfig;
use crate::read;
use crate::store::StateStore;

#[test]
fn it_stands_beside_the_state_partitions_whichever_comes_first() {
    for groups_first in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let groups = || ShareGroupStore::open(dir.path(), &GroupStoreConfig::default()).unwrap();
        let states = || {
            StateStore::open(dir.path(), &StoreConfig::default(), |_| {
                ControlFlow::Continue(())
            })
            .unwrap()
        };
        let (groups, states) = if groups_first {
            let groups = groups();
            (groups, states())
        } else {
            let states = states();
            (groups(), states)
        };
        groups.set_topics(topics()).unwrap().unwrap();
        Command::Beat("a", 0).run(&groups, 1).unwrap();
        let key = SharePartitionKey::new("g", ORDERS, 0);
        let request = InitializeState {
            state_epoch: 1,
            start_offset: -1,
        };
        states.initialize(&key, &request, WallTime(1)).unwrap();
        assert_eq!(groups.path(), dir.path().join("__consumer_offsets-0"));
        let folded = read::fold(dir.path(), |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(folded.states.len(), 1);
        groups.close().unwrap();
        states.close().unwrap();
        let again = ShareGroupStore::open(dir.path(), &GroupStoreConfig::default()).unwrap();
        assert_eq!(again.recovery().records, 6);
    }
}

#[test]
fn one_writer_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let config = GroupStoreConfig::default();
    let store = ShareGroupStore::open(dir.path(), &config).unwrap();
    let second = ShareGroupStore::open(dir.path(), &config).unwrap_err();
    assert!(matches!(second, OpenError::Locked { .. }), "{second}");
    store.close().unwrap();
    ShareGroupStore::open(dir.path(), &config).unwrap();
}

#[test]
fn a_brokers_own_log_is_left_alone() {
    let disk = SimDisk::default();
    disk.put(&segment(0), b"anything");
    let error = open(&disk, &GroupStoreConfig::default()).unwrap_err();
    assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
    assert_eq!(disk.files().len(), 1);
}

#[test]
fn records_of_other_groups_are_passed_over() {
    let config = GroupStoreConfig::default();
    let (disk, _) = history(&config, &[]);
    let records: Vec<_> = [0_u8, 3, 5, 9, 16, 21]
        .iter()
        .map(|record_type| [vec![0, *record_type], vec![0, 1, b'g']].concat())
        .collect();
    let records: Vec<_> = records
        .iter()
        .map(|key| NewRecord {
            timestamp: 1,
            key: Some(key),
            value: Some(b"??"),
        })
        .collect();
    let batch = encode_marked_batch(0, 0, 1, Compression::Zstd, &records).unwrap();
    disk.put(&segment(0), &batch);
    let store = open(&disk, &config).unwrap();
    assert_eq!(
        (store.recovery().unknown_types, store.recovery().records),
        (6, 6)
    );
    assert_eq!(state(&store), []);
    Command::Beat("a", 0).run(&store, 1).unwrap();
    let left = state(&store);
    drop(store);
    assert_eq!(state(&open(&disk, &config).unwrap()), left);
}

#[test]
fn settings_out_of_range_are_named() {
    use crate::config::SyncPolicy;
    let disk = SimDisk::default();
    let never = GroupStoreConfig {
        sync: SyncPolicy::Interval { ms: 0 },
        ..GroupStoreConfig::default()
    };
    let error = open(&disk, &never).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("sync interval is 0; expected 1 to {}", u64::MAX)
    );
    let broker = [("group.share.max.size".to_owned(), 0)].into();
    let empty = GroupStoreConfig {
        broker,
        ..GroupStoreConfig::default()
    };
    let error = open(&disk, &empty).unwrap_err();
    assert_eq!(
        error.to_string(),
        "group.share.max.size is 0, which is not between 1 and 1000"
    );
    assert!(disk.files().is_empty());
}

#[test]
fn everybody_has_a_full_session_after_opening() {
    let config = GroupStoreConfig::default();
    let disk = SimDisk::default();
    let store = open(&disk, &config).unwrap();
    Command::Beat("a", 0).run(&store, 0).unwrap();
    Command::Beat("b", 0).run(&store, 2_000).unwrap();
    drop(store);
    let store = open(&disk, &config).unwrap();
    let at = LockTime(1_000_000);
    assert!(store.poll_timeout().unwrap() <= Some(at));
    assert_eq!(store.handle_timeout(at, WallTime(1)).unwrap().answer, []);
    assert_eq!(store.poll_timeout(), Ok(Some(at.plus(45_000))));
    let expired = store.handle_timeout(at.plus(45_000), WallTime(1)).unwrap();
    assert_eq!(
        expired.answer,
        [("g".into(), "a".into()), ("g".into(), "b".into())]
    );
    store.wait(expired.ticket).unwrap();
    assert_eq!(store.poll_timeout(), Ok(None));
    let described = store
        .look(|groups| groups.describe("g"))
        .unwrap()
        .answer
        .unwrap();
    assert_eq!((described.members.len(), described.epoch), (0, 4));
}
