//! A log whose records are mostly dead is rewritten to those that live.

use std::collections::BTreeSet;

use super::*;

fn sizes(disk: &SimDisk) -> Vec<(String, usize)> {
    let files = disk.files();
    let segments = files
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|e| e == "log"));
    segments
        .map(|(path, bytes)| {
            (
                path.file_stem().unwrap().to_str().unwrap().to_owned(),
                bytes.len(),
            )
        })
        .collect()
}

#[test]
fn a_group_that_goes_on_for_ever_has_a_log_that_does_not_grow() {
    let config = GroupStoreConfig {
        segment_bytes: 2048,
        rewrite_bytes: 4096,
        ..GroupStoreConfig::default()
    };
    let disk = SimDisk::default();
    let store = open(&disk, &config).unwrap();
    let (mut largest, mut seen) = (0, BTreeSet::new());
    for round in 0..300 {
        Command::Beat("a", 0).run(&store, 4 * round * TICK).unwrap();
        Command::Beat("b", 0)
            .run(&store, (4 * round + 1) * TICK)
            .unwrap();
        Command::Beat("a", -1)
            .run(&store, (4 * round + 2) * TICK)
            .unwrap();
        let sizes = sizes(&disk);
        largest = largest.max(sizes.iter().map(|(_, size)| size).sum());
        seen.extend(sizes.into_iter().map(|(segment, _)| segment));
    }
    let (left, counters) = (state(&store), store.counters());
    assert!(counters.bytes > 50_000, "{counters:?}");
    let gone = seen.len() - sizes(&disk).len();
    assert!(gone > 10, "{gone} segments have gone");
    assert_eq!(counters.pruned_segments, gone as u64);
    assert!(largest < 10_000, "{largest}");
    store.close().unwrap();

    let segments = sizes(&disk);
    assert_ne!(segments[0].0, "00000000000000000000", "{segments:?}");
    let store = open(&disk, &config).unwrap();
    assert_eq!(state(&store), left);
    assert!(store.recovery().records < 200, "{:?}", store.recovery());
}

#[test]
fn much_that_lives_is_written_in_several_batches_and_not_before_the_log_is_four_times_that() {
    let config = GroupStoreConfig {
        rewrite_bytes: 4096,
        ..GroupStoreConfig::default()
    };
    let disk = SimDisk::default();
    let store = open(&disk, &config).unwrap();
    let name = |group: usize| format!("{group}{}", "x".repeat(30_000));
    let altered = [AlteredPartition {
        topic_id: ORDERS,
        name: "orders".into(),
        partition: 0,
    }];
    let mut alter = |group: usize| {
        let accepted = store
            .begin_alter_offsets(&name(group), &altered, WallTime(1))
            .unwrap();
        accepted.answer.unwrap();
        store.wait(accepted.ticket).unwrap();
    };
    (0..40).for_each(&mut alter);
    let counters = store.counters();
    assert_eq!(counters.writes, 40);
    // 40 groups of 90 kB are 3.6 MB: rewritten at once, and when the log had four, sixteen, … times that size.
    let rewritten = counters.pruned_segments;
    assert!((2..8).contains(&rewritten), "{counters:?}");
    // A rewriting of more than a megabyte is more than one batch.
    assert!(counters.batches > 40 + rewritten, "{counters:?}");
    let left = state(&store);
    store.close().unwrap();
    assert_eq!(state(&open(&disk, &config).unwrap()), left);
}

#[test]
fn where_nothing_lives_the_log_stays_until_something_does() {
    let config = GroupStoreConfig {
        rewrite_bytes: 512,
        ..GroupStoreConfig::default()
    };
    let disk = SimDisk::default();
    let store = open(&disk, &config).unwrap();
    for (now, command) in (0..).zip([
        Command::Beat("a", 0),
        Command::Beat("a", -1),
        Command::BeginDelete,
        Command::FinishDelete,
    ]) {
        command.run(&store, now * TICK).unwrap();
    }
    assert_eq!(state(&store), []);
    drop(store);
    let store = open(&disk, &config).unwrap();
    assert_eq!(state(&store), []);
    Command::Beat("b", 0).run(&store, 0).unwrap();
    let left = state(&store);
    drop(store);
    assert_eq!(state(&open(&disk, &config).unwrap()), left);
    assert_eq!(sizes(&disk).len(), 1);
}

#[test]
fn a_log_that_was_large_when_it_was_opened_is_rewritten_with_the_next_verb() {
    let large = GroupStoreConfig::default();
    let (disk, _) = history(&large, &script());
    let before = sizes(&disk);
    let small = GroupStoreConfig {
        rewrite_bytes: 512,
        ..large
    };
    let store = open(&disk, &small).unwrap();
    Command::Beat("z", 0).run(&store, 0).unwrap();
    assert_eq!(store.counters().pruned_segments, 1);
    let after = sizes(&disk);
    assert!(after[0].1 < before[0].1, "{before:?} {after:?}");
}
