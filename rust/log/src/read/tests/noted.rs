//! Findings of a reader in a store's log that has not all with which it was closed.

use super::*;

const ROOT: &str = "/store";

fn store_dir() -> PathBuf {
    Path::new(ROOT).join("__share_group_state-0")
}

fn log() -> PathBuf {
    store_dir().join(crate::layout::segment_name(0))
}

/// A store with `keys` states, closed or killed.
fn store(keys: i32, is_closed: bool) -> SimDisk {
    marked_store(0, keys, is_closed)
}

/// The same, with a mark of its own.
fn marked_store(mark: i32, keys: i32, is_closed: bool) -> SimDisk {
    let disk = SimDisk::default();
    disk.number_marks_from(mark);
    let store = opened(&disk);
    write(&store, 0..keys);
    let killed = disk.copy();
    store.close().unwrap();
    if is_closed { disk } else { killed }
}

fn opened(disk: &SimDisk) -> StateStore {
    let on_progress = &mut |_| ControlFlow::Continue(());
    StateStore::open_on(
        Arc::new(disk.clone()),
        Path::new(ROOT),
        &StoreConfig::default(),
        on_progress,
    )
    .unwrap()
}

fn write(store: &StateStore, keys: std::ops::Range<i32>) {
    for n in keys {
        let request = InitializeState {
            state_epoch: 1,
            start_offset: 0,
        };
        store.initialize(&key(n), &request, WallTime(1)).unwrap();
    }
}

/// Number of records that are shown of a path, and what is found.
fn read_path(disk: &SimDisk, path: &Path) -> (usize, Vec<Finding>) {
    let mut scan = Scan::on(Arc::new(disk.clone()), path).unwrap();
    let records = scan.by_ref().map(Result::unwrap).count();
    (records, scan.into_findings())
}

#[test]
fn a_closed_log_that_was_cut_is_damaged_by_whichever_path_it_is_read() {
    let whole = store(3, true);
    let bytes = whole.bytes(&log());
    let last = bytes.len() / 3 * 2;
    for path in [PathBuf::from(ROOT), store_dir(), log()] {
        assert_eq!(read_path(&whole, &path), (3, vec![]), "{}", path.display());
        for cut in last..bytes.len() {
            let disk = whole.copy();
            disk.put(&log(), &bytes[..cut]);
            let (records, findings) = read_path(&disk, &path);
            assert_eq!(records, 2, "cut at {cut}");
            let [
                Finding::Damage {
                    partition: 0,
                    corrupt,
                },
            ] = &findings[..]
            else {
                panic!("cut at {cut}: {findings:?}")
            };
            assert_eq!((&corrupt.segment, corrupt.position), (&log(), last as u64));
            let is_between = corrupt.kind == CorruptKind::EndsElsewhere { noted: 3, found: 2 };
            assert_eq!(is_between, cut == last, "cut at {cut}: {corrupt}");
        }
    }
}

#[test]
fn what_is_bad_missing_or_too_much_is_told() {
    let whole = store(3, true);
    let bytes = whole.bytes(&log());
    let changed = |bytes: Option<Vec<u8>>| {
        let disk = whole.copy();
        match bytes {
            Some(bytes) => disk.put(&log(), &bytes),
            None => disk.take(&log()),
        }
        let (records, findings) = read_path(&disk, Path::new(ROOT));
        (
            records,
            kinds(&findings).into_iter().cloned().collect::<Vec<_>>(),
        )
    };
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        // What Kafka's readers do not look at: the leader epoch outside the checksum.
        if (12..16).contains(&(at % (bytes.len() / 3))) {
            continue;
        }
        let (_, found) = changed(Some(flipped));
        assert!(!found.is_empty(), "byte {at}");
    }
    let longer = store(4, true).bytes(&log());
    let elsewhere = |noted, found| vec![CorruptKind::EndsElsewhere { noted, found }];
    assert_eq!(changed(Some(longer)), (4, elsewhere(3, 4)));
    assert_eq!(changed(Some(vec![])), (0, elsewhere(3, 0)));
    assert_eq!(changed(None), (0, elsewhere(3, 0)));
    let zeros = [bytes, vec![0; 100]].concat();
    assert_eq!(changed(Some(zeros)), (3, vec![CorruptKind::ZeroFilled]));
}

#[test]
fn a_killed_store_has_a_torn_tail_as_before_but_not_below_what_it_was_opened_with() {
    let disk = store(3, false);
    let bytes = disk.bytes(&log());
    disk.put(&log(), &bytes[..bytes.len() - 1]);
    let (records, findings) = read_path(&disk, Path::new(ROOT));
    assert!(
        records == 2 && matches!(findings[..], [Finding::TornTail(_)]),
        "{findings:?}"
    );

    let disk = store(3, true);
    let writer = opened(&disk);
    let killed = disk.copy();
    drop(writer);
    killed.put(&log(), &bytes[..bytes.len() - 1]);
    let (records, findings) = read_path(&killed, Path::new(ROOT));
    assert!(
        records == 2 && matches!(kinds(&findings)[..], [CorruptKind::CutOff { .. }]),
        "{findings:?}"
    );
}

#[test]
fn a_writer_that_comes_while_a_closed_log_is_read_is_no_finding() {
    for missing in [0, 1] {
        let disk = store(3, true);
        // The names and what is noted are read; the segment is not yet.
        let mut scan = Scan::on(Arc::new(disk.clone()), Path::new(ROOT)).unwrap();
        let writer = opened(&disk);
        write(&writer, 3..6);
        // What stands at the end at this moment may be half a batch.
        let bytes = disk.bytes(&log());
        disk.put(&log(), &bytes[..bytes.len() - missing]);
        assert_eq!(scan.by_ref().map(Result::unwrap).count(), 6 - missing);
        match scan.findings() {
            [] => assert_eq!(missing, 0),
            [Finding::TornTail(torn)] => assert!(missing == 1 && torn.position > 0),
            findings => panic!("{findings:?}"),
        }
    }
}

#[test]
fn a_prefix_of_a_log_is_not_asked_for_its_end() {
    let disk = store(3, true);
    let bytes = disk.bytes(&log());
    disk.put(&log(), &bytes[..bytes.len() / 3 * 2]);
    let as_of = AsOf {
        offsets: [(0, 0)].into(),
        ..AsOf::default()
    };
    let mut scan = Scan::on(Arc::new(disk), Path::new(ROOT))
        .unwrap()
        .as_of(as_of);
    assert_eq!(scan.by_ref().count(), 1);
    assert_eq!(scan.findings(), []);
}

#[test]
fn the_log_of_another_store_is_told_by_whichever_path_it_is_read() {
    for is_closed in [true, false] {
        let disk = store(3, is_closed);
        disk.put(&log(), &marked_store(100, 3, is_closed).bytes(&log()));
        for path in [PathBuf::from(ROOT), store_dir(), log()] {
            let (records, findings) = read_path(&disk, &path);
            assert_eq!(records, 3, "{}", path.display());
            let [Finding::Damage { corrupt, .. }] = &findings[..] else {
                panic!("{}: {findings:?}", path.display())
            };
            assert_eq!((&corrupt.segment, corrupt.position), (&log(), 0));
            let told = "the batch is of another store: mark 00000065, this one has 00000001";
            assert_eq!(corrupt.kind.to_string(), told);
        }
    }
}

#[test]
fn a_segment_that_others_follow_has_the_mark_of_its_store() {
    let small = StoreConfig {
        segment_bytes: 1024,
        ..StoreConfig::default()
    };
    let several = |mark| {
        let disk = SimDisk::default();
        disk.number_marks_from(mark);
        let on_progress = &mut |_| ControlFlow::Continue(());
        let root = Path::new(ROOT);
        let store = StateStore::open_on(Arc::new(disk.clone()), root, &small, on_progress).unwrap();
        write(&store, 0..60);
        store.close().unwrap();
        disk
    };
    let disk = several(0);
    assert!(disk.files().len() > 4);
    assert_eq!(read_path(&disk, &log()).1, []);
    disk.put(&log(), &several(100).bytes(&log()));
    assert_eq!(read_path(&disk, &log()).1.len(), 1);
}
