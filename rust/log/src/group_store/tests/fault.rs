//! A disk that fails once and then works again: the store does not.

use super::*;
use crate::disk::sim::Fault;
use crate::error::PoisonCause;

#[test]
fn a_store_whose_disk_failed_once_answers_nothing_more() {
    let config = GroupStoreConfig {
        segment_bytes: 1024,
        rewrite_bytes: 1500,
        ..GroupStoreConfig::default()
    };
    let script = script();
    let (_, history) = history(&config, &script);
    let mut faults = 0;
    for at in 0.. {
        let disk = SimDisk::default();
        let store = open(&disk, &config).unwrap();
        disk.set_fault(Some(Fault::FailOnce(at)));
        let failed = (0..).zip(&script).find_map(|(now, command)| {
            let run = command.run(&store, i64::try_from(now).unwrap() * TICK);
            run.err().map(|error| (now, error))
        });
        if disk.operations() <= at {
            break;
        }
        let (acknowledged, error): (usize, _) = failed.unwrap();
        let StoreError::Poisoned { cause } = &error else {
            panic!("fault at {at}: {error}")
        };
        assert!(
            matches!(**cause, PoisonCause::Io(_)),
            "fault at {at}: {cause}"
        );
        for command in script.iter().take(4).chain([&Command::Expire]) {
            let begun = command.begin(&store, 0);
            assert_eq!(begun, Err(error.clone()), "fault at {at}, {command:?}");
        }
        assert_eq!(store.wait(1), Err(error.clone()));
        assert_eq!(store.is_durable(0), Err(error.clone()));
        assert_eq!(store.ticket(), Err(error.clone()));
        assert_eq!(store.flush(), Err(error.clone()));
        assert_eq!(store.poll_timeout(), Err(error.clone()));
        assert_eq!(store.set_topics(topics()), Err(error.clone()));
        assert_eq!(store.close(), Err(error));
        drop(store);
        for loss in Loss::ALL {
            let found = state(&open(&disk.after_crash(loss), &config).unwrap());
            let allowed = &history[acknowledged..(acknowledged + 2).min(history.len())];
            assert!(allowed.contains(&found), "fault at {at}, {loss:?}");
        }
        faults += 1;
    }
    assert!(faults > 40, "{faults} faults");
}

#[test]
fn what_cannot_be_written_is_refused_and_changes_nothing() {
    let disk = SimDisk::default();
    let store = open(&disk, &GroupStoreConfig::default()).unwrap();
    let before = state(&store);
    let one = AlteredPartition {
        topic_id: TopicId([1; 16]),
        name: "x".into(),
        partition: 0,
    };
    let negative = store.begin_alter_offsets("h", &[one], WallTime(-1));
    assert_eq!(negative, Err(StoreError::Timestamp { wall_ms: -1 }));
    assert_eq!(state(&store), before);
    // Topics whose names alone are more than one verb may write.
    let name: Arc<str> = "x".repeat(32_000).into();
    let altered: Vec<_> = (0..2_100_u16)
        .map(|number| {
            let mut id = [1; 16];
            id[..2].copy_from_slice(&number.to_be_bytes());
            AlteredPartition {
                topic_id: TopicId(id),
                name: Arc::clone(&name),
                partition: 0,
            }
        })
        .collect();
    let small = store
        .begin_alter_offsets("h", &altered[..10], WallTime(1))
        .unwrap();
    assert_eq!(small.answer, Ok(1));
    store.wait(small.ticket).unwrap();
    let before = state(&store);
    let large = store.begin_alter_offsets("h", &altered, WallTime(1));
    assert!(
        matches!(large, Err(StoreError::TooLarge { .. })),
        "{large:?}"
    );
    assert_eq!(state(&store), before);
}

#[test]
fn a_closed_store_answers_no_verb_and_closes_again() {
    let disk = SimDisk::default();
    let store = open(&disk, &GroupStoreConfig::default()).unwrap();
    let ticket = Command::Beat("a", 0).begin(&store, 0).unwrap();
    store.close().unwrap();
    assert_eq!(store.wait(ticket), Ok(()));
    assert_eq!(store.is_durable(ticket), Ok(true));
    assert_eq!(
        Command::Beat("b", 0).begin(&store, 0),
        Err(StoreError::Closed)
    );
    assert_eq!(store.flush(), Err(StoreError::Closed));
    assert_eq!(store.close(), Ok(()));
}
