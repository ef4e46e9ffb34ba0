//! The verbs, the counters and pruning on a disk that works.

use super::*;
use crate::config::SyncPolicy;
use share_state_core::coordinator::CoordinatorError;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::StateSummary;
use share_state_wire::record_batch::{Compression, NewRecord, encode_marked_batch};

#[test]
fn the_verbs_answer_as_the_coordinator_does() {
    let disk = SimDisk::default();
    let store = open(&disk, &config()).unwrap();
    let (key, wall) = (key(0), WallTime(7));
    let none = StateSummary {
        state_epoch: 0,
        leader_epoch: 0,
        start_offset: -1,
        delivery_complete_count: -1,
    };
    assert_eq!(store.summary(&key), Ok(none));
    let refused = store
        .write(&key, &write_request(0, 9, 0), wall)
        .unwrap_err();
    assert!(matches!(
        refused,
        StoreError::Refused(CoordinatorError::Uninitialized { .. })
    ));
    assert_eq!(refused.kafka_code(), KafkaCode::InvalidRequest);
    assert_eq!(store.counters().records, 0);

    store
        .initialize(
            &key,
            &InitializeState {
                state_epoch: 1,
                start_offset: 0,
            },
            wall,
        )
        .unwrap();
    store.write(&key, &write_request(0, 9, 0), wall).unwrap();
    let read = store
        .read(&key, &ReadState { leader_epoch: 4 }, wall)
        .unwrap();
    assert_eq!(
        (
            read.state_epoch,
            read.start_offset,
            read.state_batches.len()
        ),
        (1, 0, 1)
    );
    let fenced = store
        .write(&key, &write_request(0, 9, 0), wall)
        .unwrap_err();
    assert_eq!(fenced.kafka_code(), KafkaCode::FencedLeaderEpoch);
    assert_eq!(store.summary(&key).unwrap().leader_epoch, 4);
    store.delete(&key, wall).unwrap();
    assert_eq!(store.summary(&key), Ok(none));
    store.delete(&key, wall).unwrap();

    let counters = store.counters();
    assert_eq!(
        (counters.writes, counters.records, counters.batches),
        (4, 4, 4)
    );
    assert_eq!(counters.bytes, disk.bytes(&segment(0, 0)).len() as u64);
    assert!(counters.fsyncs >= 4);
}

#[test]
fn a_negative_timestamp_is_refused_and_changes_nothing() {
    let disk = SimDisk::default();
    let store = open(&disk, &config()).unwrap();
    let before = disk.files();
    let refused = Command::Initialize(0).run(&store, -1).unwrap_err();
    assert_eq!(refused, StoreError::Timestamp { wall_ms: -1 });
    assert_eq!(store.states().unwrap(), []);
    Command::Initialize(0).run(&store, i64::MAX).unwrap();
    assert_ne!(disk.files(), before);
}

#[test]
fn a_closed_store_answers_nothing() {
    let disk = SimDisk::default();
    let store = open(&disk, &config()).unwrap();
    Command::Initialize(0).run(&store, 0).unwrap();
    store.close().unwrap();
    store.close().unwrap();
    let files = disk.files();
    for command in [
        Command::Initialize(1),
        Command::Read(0, 0),
        Command::Prune,
        Command::ColdSnapshots,
        Command::Flush,
    ] {
        assert_eq!(
            command.run(&store, 0),
            Err(StoreError::Closed),
            "{command:?}"
        );
    }
    assert_eq!(store.states(), Err(StoreError::Closed));
    assert_eq!(
        store.topics_deleted(&[TopicId([1; 16])], WallTime(0)),
        Err(StoreError::Closed)
    );
    assert_eq!(disk.files(), files);
}

#[test]
fn every_compression_is_loaded_again() {
    for compression in Compression::ALL {
        let config = StoreConfig {
            compression,
            ..config()
        };
        let (disk, history) = history(&config, &script());
        let store = open(&disk, &config).unwrap();
        assert_eq!(
            store.states().unwrap(),
            *history.last().unwrap(),
            "{compression:?}"
        );
    }
}

#[test]
fn segments_roll_and_are_pruned_below_the_latest_snapshots() {
    let config = StoreConfig {
        segment_bytes: 1024,
        ..config()
    };
    let disk = SimDisk::default();
    let store = open(&disk, &config).unwrap();
    assert_eq!(store.prune(), Ok(0));
    Command::Initialize(0).run(&store, 0).unwrap();
    Command::Initialize(1).run(&store, 0).unwrap();
    for i in 0..40 {
        Command::Write(0, i).run(&store, 10).unwrap();
    }
    let segments = |disk: &SimDisk| {
        let logs = disk
            .files()
            .into_keys()
            .filter(|path| path.extension().is_some_and(|e| e == "log"));
        logs.collect::<Vec<_>>()
    };
    let all = segments(&disk);
    assert!(all.len() > 3, "{all:?}");
    for path in &all {
        assert!(disk.bytes(path).len() <= 1024);
    }
    assert_eq!(
        store.prune(),
        Ok(0),
        "key 1 has its only snapshot at the beginning"
    );
    assert_eq!(store.cold_snapshots(WallTime(50)), Ok(0), "too young");
    // Only key 1 is old: the other one has had snapshots at 10 ms.
    assert_eq!(store.cold_snapshots(WallTime(105)), Ok(1));
    let pruned = store.prune().unwrap();
    let kept = segments(&disk).len();
    assert!(pruned > 1 && kept < 3, "{pruned} pruned, {kept} kept");
    assert_eq!(store.counters().pruned_segments, pruned as u64);
    let states = store.states().unwrap();
    Command::Write(1, 5).run(&store, 120).unwrap();
    drop(store);
    let store = open(&disk, &config).unwrap();
    assert_eq!(store.states().unwrap().len(), 2);
    assert_eq!(store.states().unwrap()[0], states[0]);
    Command::Write(1, 6).run(&store, 130).unwrap();
}

#[test]
fn deleting_topics_deletes_their_states_in_every_partition() {
    let disk = SimDisk::default();
    let config = StoreConfig {
        partitions: Some(3),
        ..config()
    };
    let store = open(&disk, &config).unwrap();
    for n in 0..10 {
        Command::Initialize(n).run(&store, 0).unwrap();
    }
    let other = SharePartitionKey::new("g", TopicId([2; 16]), 0);
    store
        .initialize(
            &other,
            &InitializeState {
                state_epoch: 1,
                start_offset: 5,
            },
            WallTime(0),
        )
        .unwrap();
    assert_eq!(
        store.topics_deleted(&[TopicId([9; 16])], WallTime(1)),
        Ok(0)
    );
    assert_eq!(
        store.topics_deleted(&[TopicId([1; 16])], WallTime(1)),
        Ok(10)
    );
    drop(store);
    let states = open(&disk, &config).unwrap().states().unwrap();
    assert_eq!(
        states.iter().map(|(key, _)| key).collect::<Vec<_>>(),
        [&other]
    );
}

/// Two groups of one topic partition in three state partitions; others are beside them.
#[test]
fn a_log_that_was_truncated_is_forgotten_by_every_group() {
    let disk = SimDisk::default();
    let config = StoreConfig {
        partitions: Some(3),
        ..config()
    };
    let store = open(&disk, &config).unwrap();
    assert_eq!(store.state_count(), Ok(0));
    let topic_id = TopicId([1; 16]);
    let keys: Vec<_> = ["g", "h"]
        .into_iter()
        .flat_map(|group| (0..5).map(move |n| SharePartitionKey::new(group, topic_id, n)))
        .collect();
    let begin = InitializeState {
        state_epoch: 1,
        start_offset: 0,
    };
    for key in &keys {
        store.initialize(key, &begin, WallTime(0)).unwrap();
        let write = write_request(10, 19, 0);
        store.write(key, &write, WallTime(0)).unwrap();
    }
    assert_eq!(store.state_count(), Ok(10));
    let ends = |store: &StateStore| -> Vec<i64> {
        let states = store.states().unwrap().into_iter();
        states
            .map(|(_, state)| state.state_batches.to_vec()[0].last_offset)
            .collect()
    };
    let wall = WallTime(1);
    assert_eq!(store.log_truncated(topic_id, 3, 20, wall), Ok(0));
    assert_eq!(store.log_truncated(TopicId([2; 16]), 3, 15, wall), Ok(0));
    assert_eq!(ends(&store), [19; 10]);
    assert_eq!(store.log_truncated(topic_id, 3, 15, wall), Ok(2));
    let cut = [19, 19, 19, 14, 19, 19, 19, 19, 14, 19];
    assert_eq!(ends(&store), cut);
    assert_eq!(store.log_truncated(topic_id, 3, 15, wall), Ok(0));
    drop(store);
    let store = open(&disk, &config).unwrap();
    assert_eq!(ends(&store), cut);
    assert_eq!(store.state_count(), Ok(10));
}

#[test]
fn only_the_policy_decides_when_a_write_is_synced() {
    for (sync, per_write) in [(SyncPolicy::Always, 1), (SyncPolicy::Never, 0)] {
        let disk = SimDisk::default();
        let store = open(&disk, &StoreConfig { sync, ..config() }).unwrap();
        Command::Initialize(0).run(&store, 0).unwrap();
        let before = store.counters().fsyncs;
        for i in 0..10 {
            Command::Write(0, i).run(&store, 0).unwrap();
        }
        assert_eq!(store.counters().fsyncs - before, 10 * per_write, "{sync:?}");
        store.flush().unwrap();
        assert_eq!(
            store.counters().fsyncs - before,
            10 * per_write + (1 - per_write),
            "{sync:?}"
        );
    }
}

#[test]
fn a_roll_syncs_the_new_segment_and_its_name_and_what_was_not_synced() {
    for (sync, per_write, per_roll) in [(SyncPolicy::Always, 1, 2), (SyncPolicy::Never, 0, 3)] {
        let config = StoreConfig {
            sync,
            segment_bytes: 1024,
            ..config()
        };
        let disk = SimDisk::default();
        let store = open(&disk, &config).unwrap();
        Command::Initialize(0).run(&store, 0).unwrap();
        Command::Write(0, 0).run(&store, 0).unwrap();
        let mut rolls = 0;
        for i in 1..40 {
            let (files, before) = (disk.files().len(), store.counters().fsyncs);
            Command::Write(0, i).run(&store, 0).unwrap();
            let rolled = disk.files().len() > files;
            let synced = store.counters().fsyncs - before;
            assert_eq!(synced, if rolled { per_roll } else { per_write }, "{i}");
            rolls += usize::from(rolled);
        }
        assert!(rolls > 2, "{rolls} rolls");
    }
}

#[test]
fn the_last_offset_is_never_given_out() {
    let disk = killed();
    let base_offset = i64::MAX - 2;
    let starts = format!("0\n1\n__share_group_state 0 {base_offset}\n");
    disk.put(
        &Path::new(ROOT).join(crate::layout::CHECKPOINT_FILE),
        starts.as_bytes(),
    );
    let record = NewRecord {
        timestamp: 0,
        key: Some(&[0, 255]),
        value: None,
    };
    let batch = encode_marked_batch(base_offset, 0, 1, Compression::None, &[record]).unwrap();
    disk.put(&segment(0, base_offset), &batch);
    let store = open(&disk, &config()).unwrap();
    for n in 0..2 {
        assert_eq!(
            Command::Initialize(n).run(&store, 0),
            Err(StoreError::OffsetEnd)
        );
    }
    assert_eq!(store.states().unwrap(), []);
    assert_eq!(disk.bytes(&segment(0, base_offset)), batch);
}
