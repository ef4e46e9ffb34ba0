//! Beside a writer that appends, rolls and prunes.

use super::*;
use crate::SyncPolicy;

#[test]
fn segments_that_a_writer_prunes_meanwhile_are_passed_over() {
    let disk = broker(&[(0, batch(0, 2)), (2, batch(2, 2)), (4, batch(4, 1))]);
    let mut scan = Scan::on(Arc::new(disk.clone()), Path::new("/broker")).unwrap();
    disk.take(&segment(0));
    disk.take(&segment(2));
    let offsets: Vec<_> = scan.by_ref().map(|record| record.unwrap().offset).collect();
    assert_eq!(offsets, [4]);
    assert_eq!(scan.findings(), []);
    let progress = scan.progress();
    assert_eq!(progress.bytes_done, progress.bytes_total);
    assert_eq!(
        (
            progress.partitions_done,
            progress.partitions_total,
            progress.records
        ),
        (1, 1, 1)
    );
}

#[test]
fn a_reader_beside_a_writer_sees_a_whole_past_and_hinders_nobody() {
    reads_beside(SyncPolicy::Always, 4_096, 400);
}

/// The last batch comes into the room of the file before any one of the reader's operations, after none, a part or nearly all of it.
#[test]
fn a_batch_that_is_written_between_two_looks_is_no_damage() {
    let disk = SimDisk::default();
    let config = StoreConfig {
        sync: SyncPolicy::Never,
        ..StoreConfig::default()
    };
    let root = Path::new("/store");
    let go_on = &mut |_| ControlFlow::Continue(());
    let store = StateStore::open_on(Arc::new(disk.clone()), root, &config, go_on).unwrap();
    let request = InitializeState {
        state_epoch: 1,
        start_offset: 0,
    };
    let path = root
        .join("__share_group_state-0")
        .join(crate::layout::segment_name(0));
    let mut files = Vec::new();
    for n in 0..3 {
        store.initialize(&key(n), &request, WallTime(1)).unwrap();
        files.push(disk.bytes(&path));
    }
    let (before, after) = (&files[1], &files[2]);
    let begin = before.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let end = after.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let mut seen = [false; 2];
    for written in [begin, begin + 9, begin + 30, end - 1] {
        for at in 0..40 {
            let beside = disk.copy();
            let part = [&after[..written], &before[written..]].concat();
            beside.put(&path, &part);
            beside.change_at(at, &path, after);
            let mut scan = Scan::on(Arc::new(beside), root).unwrap();
            let records = scan.by_ref().map(Result::unwrap).count();
            let findings = scan.into_findings();
            let is_torn = matches!(findings[..], [Finding::TornTail(_)]);
            assert!(
                findings.is_empty() || written > begin && records == 2 && is_torn,
                "{findings:?}"
            );
            assert!(records == 2 || records == 3, "{records}");
            seen[records - 2] = true;
        }
    }
    assert_eq!(seen, [true; 2]);
}

/// Such a writer puts its batches into room that it has reserved.
#[test]
fn a_reader_beside_a_writer_that_does_not_sync_finds_no_damage_in_its_room() {
    reads_beside(SyncPolicy::Never, 1 << 20, 3_000);
}

fn reads_beside(sync: SyncPolicy, segment_bytes: u64, writes: i64) {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        sync,
        segment_bytes,
        ..StoreConfig::default()
    };
    let store = StateStore::open(dir.path(), &config, |_| ControlFlow::Continue(())).unwrap();
    store
        .initialize(
            &key(0),
            &InitializeState {
                state_epoch: 1,
                start_offset: 0,
            },
            WallTime(0),
        )
        .unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for offset in 0..writes {
                let batch = StateBatch {
                    first_offset: 2 * offset,
                    last_offset: 2 * offset,
                    delivery_state: 2,
                    delivery_count: 1,
                };
                let request = WriteState {
                    state_epoch: 1,
                    leader_epoch: 0,
                    start_offset: 0,
                    delivery_complete_count: -1,
                    state_batches: vec![batch],
                };
                store.write(&key(0), &request, WallTime(offset)).unwrap();
            }
        });
        let mut before = 0;
        while !writer.is_finished() {
            let folded = fold(dir.path(), |_| ControlFlow::Continue(())).unwrap();
            for finding in &folded.findings {
                assert!(matches!(finding, Finding::TornTail(_)), "{finding}");
            }
            let runs = folded.states[0].state.state_batches.len();
            assert!(runs >= before, "{before} runs, then {runs}");
            before = runs;
        }
    });
    let folded = fold(dir.path(), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(folded.findings, []);
    let states: Vec<_> = folded
        .states
        .into_iter()
        .map(|f| (f.key, f.state))
        .collect();
    assert_eq!(states, store.states().unwrap());
    assert_eq!(states[0].1.state_batches.len(), writes as usize);
}
