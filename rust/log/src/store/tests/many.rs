//! Many requests in one call: answered as one after the other, durable together.

use super::*;
use crate::disk::sim::Fault;

const WALL: WallTime = WallTime(7);

fn begun(disk: &SimDisk, partitions: u32) -> StateStore {
    let config = StoreConfig {
        partitions: Some(partitions),
        ..config()
    };
    let store = open(disk, &config).unwrap();
    let begin = InitializeState {
        state_epoch: 1,
        start_offset: 0,
    };
    let all: Vec<_> = (0..20).map(|n| (key(n), begin)).collect();
    let answers = store.initialize_many(&all, WALL).unwrap();
    assert_eq!(answers, vec![Ok(()); 20]);
    store
}

#[test]
fn they_are_answered_and_kept_as_if_one_came_after_the_other() {
    for partitions in [1, 3] {
        let (disk, twin_disk) = (SimDisk::default(), SimDisk::default());
        let (store, twin) = (begun(&disk, partitions), begun(&twin_disk, partitions));
        // The second for key 3 continues from the first; key 99 has no state; an inverted batch is no batch.
        let writes: Vec<_> = (0..20)
            .map(|n| (key(n), write_request(0, 9, 0)))
            .chain([
                (key(3), write_request(10, 19, 10)),
                (key(99), write_request(0, 9, 0)),
                (key(4), write_request(9, 0, 0)),
                (key(5), write_request(20, 29, 20)),
            ])
            .collect();
        let answers = store.write_many(&writes, WALL).unwrap();
        let expected: Vec<_> = writes
            .iter()
            .map(|(key, write)| twin.write(key, write, WALL))
            .collect();
        assert_eq!(answers, expected);
        assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 2);
        let read = ReadState { leader_epoch: 5 };
        let reads: Vec<_> = [7, 99, 3].map(|n| (key(n), read)).to_vec();
        let expected: Vec<_> = reads
            .iter()
            .map(|(key, read)| twin.read(key, read, WALL))
            .collect();
        assert_eq!(store.read_many(&reads, WALL).unwrap(), expected);
        let gone: Vec<_> = [8, 99].map(|n| (key(n), ())).to_vec();
        assert_eq!(
            store.delete_many(&gone, WALL).unwrap(),
            vec![twin.delete(&key(8), WALL), twin.delete(&key(99), WALL)]
        );
        assert_eq!(store.states().unwrap(), twin.states().unwrap());
        assert_eq!(store.counters().records, twin.counters().records);
        assert_eq!(store.counters().writes, twin.counters().writes);
        let states = store.states().unwrap();
        drop(store);
        let config = StoreConfig {
            partitions: Some(partitions),
            ..config()
        };
        assert_eq!(open(&disk, &config).unwrap().states().unwrap(), states);
    }
}

#[test]
fn they_are_one_group_and_one_sync() {
    let store = begun(&SimDisk::default(), 1);
    let before = store.counters();
    let writes: Vec<_> = (0..20).map(|n| (key(n), write_request(0, 9, 0))).collect();
    store.write_many(&writes, WALL).unwrap();
    let after = store.counters();
    assert_eq!(after.records - before.records, 20);
    assert_eq!(after.batches - before.batches, 1);
    assert_eq!(after.fsyncs - before.fsyncs, 1);
    // None is none.
    assert_eq!(store.write_many(&[], WALL).unwrap(), vec![]);
    assert_eq!(store.counters(), after);
}

#[test]
fn a_failed_disk_answers_none_of_them() {
    let mut failed = 0;
    for at in 0.. {
        let disk = SimDisk::default();
        let store = begun(&disk, 1);
        disk.set_fault(Some(Fault::FailOnce(at)));
        let writes: Vec<_> = (0..20).map(|n| (key(n), write_request(0, 9, 0))).collect();
        let Err(refused) = store.write_many(&writes, WALL) else {
            break;
        };
        assert!(
            matches!(refused, StoreError::Poisoned { .. }),
            "fault at {at}: {refused}"
        );
        assert_eq!(store.write_many(&writes, WALL), Err(refused));
        failed += 1;
    }
    // The append and the sync.
    assert_eq!(failed, 2);
}

#[test]
fn writes_in_two_halves_are_kept_in_the_order_in_which_they_were_begun() {
    let disk = SimDisk::default();
    let store = begun(&disk, 3);
    let first = store
        .begin_write(&key(3), &write_request(0, 9, 0), WALL)
        .unwrap();
    let second = store
        .begin_write(&key(3), &write_request(10, 19, 10), WALL)
        .unwrap();
    let refused = store
        .begin_write(&key(99), &write_request(0, 9, 0), WALL)
        .unwrap();
    let before = store.counters().fsyncs;
    assert_eq!(store.end_write(second), Ok(()));
    assert_eq!(store.counters().fsyncs, before + 1, "one sync for both");
    assert_eq!(store.end_write(first), Ok(()));
    assert!(matches!(
        store.end_write(refused),
        Err(StoreError::Refused(_))
    ));
    drop(store);
    let twin_disk = SimDisk::default();
    let twin = begun(&twin_disk, 3);
    twin.write(&key(3), &write_request(0, 9, 0), WALL).unwrap();
    twin.write(&key(3), &write_request(10, 19, 10), WALL)
        .unwrap();
    let reopened = open(&disk.after_crash(crate::disk::sim::Loss::ALL[0]), &config()).unwrap();
    assert_eq!(reopened.states().unwrap(), twin.states().unwrap());
}

#[test]
fn a_write_ends_at_once_where_one_short_append_is_all() {
    let write = write_request(0, 9, 0);
    for (sync, segment_bytes, size, at_once) in [
        (SyncPolicy::Never, 1 << 20, 1_i64, true),
        (SyncPolicy::Interval { ms: 60_000 }, 1 << 20, 1, true),
        // The sync, the new segment, the long append.
        (SyncPolicy::Always, 1 << 20, 1, false),
        (SyncPolicy::Never, 1024, 1, false),
        (SyncPolicy::Never, 1 << 20, 5_000, false),
    ] {
        let disk = SimDisk::default();
        let config = StoreConfig {
            partitions: Some(1),
            sync,
            segment_bytes,
            ..config()
        };
        let store = open(&disk, &config).unwrap();
        Command::Initialize(3).run(&store, 0).unwrap();
        let mut large = write.clone();
        let batch = |i| StateBatch {
            first_offset: 2 * i,
            last_offset: 2 * i,
            delivery_state: 2,
            delivery_count: 1,
        };
        large.state_batches = (0..size).map(batch).collect();
        let begun = store.begin_write(&key(3), &large, WALL).unwrap();
        let refused = store.begin_write(&key(99), &write, WALL).unwrap();
        let before = (store.counters(), disk.operations());
        assert_eq!(store.try_end_write(&begun), Ok(at_once), "{config:?}");
        let after = (store.counters(), disk.operations());
        assert_eq!(after.0.fsyncs, before.0.fsyncs, "{config:?}");
        assert_eq!(after.1 - before.1, u64::from(at_once), "{config:?}");
        assert_eq!(store.end_write(begun), Ok(()));
        let refusal = store.try_end_write(&refused);
        assert!(matches!(refusal, Err(StoreError::Refused(_))), "{config:?}");
        if at_once {
            let next = store.begin_write(&key(3), &write, WALL).unwrap();
            disk.set_fault(Some(Fault::FailOnce(0)));
            let failed = store.try_end_write(&next);
            assert!(matches!(failed, Err(StoreError::Poisoned { .. })));
            let next = store.begin_write(&key(3), &write, WALL);
            assert!(matches!(next, Err(StoreError::Poisoned { .. })));
        }
    }
}

#[test]
fn a_write_whose_sync_fails_is_not_answered_as_kept() {
    let disk = SimDisk::default();
    let store = begun(&disk, 1);
    let write = store
        .begin_write(&key(3), &write_request(0, 9, 0), WALL)
        .unwrap();
    disk.set_fault(Some(Fault::FailOnce(0)));
    assert!(matches!(
        store.end_write(write),
        Err(StoreError::Poisoned { .. })
    ));
    assert!(
        store
            .begin_write(&key(3), &write_request(0, 9, 0), WALL)
            .is_err()
    );
}
