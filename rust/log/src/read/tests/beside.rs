//! Beside a writer that appends, rolls and prunes.

use super::*;

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
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        segment_bytes: 4096,
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
    let writes = 400;
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
