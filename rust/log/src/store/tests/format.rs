//! The directory: what it says of itself, and what is not taken for a store.

use super::*;
use crate::meta::MetaError;
use share_state_core::kafka_code::KafkaCode;

#[test]
fn the_number_of_state_partitions_is_fixed_and_a_mismatch_says_how_to_go_on() {
    let disk = SimDisk::default();
    let three = StoreConfig {
        partitions: Some(3),
        ..config()
    };
    let store = open(&disk, &three).unwrap();
    assert_eq!(store.partition_count(), 3);
    for n in 0..30 {
        Command::Initialize(n).run(&store, 0).unwrap();
    }
    let states = store.states().unwrap();
    assert_eq!(states.len(), 30);
    drop(store);
    for partition in 0..3 {
        assert!(
            disk.files().contains_key(&segment(partition, 0)),
            "keys are spread"
        );
    }
    let error = open(
        &disk,
        &StoreConfig {
            partitions: Some(2),
            ..config()
        },
    )
    .unwrap_err();
    assert_eq!(
        error,
        OpenError::PartitionCount {
            recorded: 3,
            asked: 2
        }
    );
    assert!(
        error
            .to_string()
            .contains("fold its states and write them into a new store"),
        "{error}"
    );
    // Who does not say takes what is there.
    let store = open(&disk, &config()).unwrap();
    assert_eq!(store.partition_count(), 3);
    assert_eq!(store.states().unwrap(), states);
}

#[test]
fn other_formats_and_damaged_meta_files_are_refused() {
    let disk = SimDisk::default();
    drop(open(&disk, &config()).unwrap());
    let meta = Path::new(ROOT).join(META_FILE);
    let body = "format=2\n";
    let newer = format!("{body}crc32c={:08x}\n", crc32c::crc32c(body.as_bytes()));
    disk.put(&meta, newer.as_bytes());
    let error = open(&disk, &config()).unwrap_err();
    assert_eq!(
        error,
        OpenError::Meta {
            path: meta.clone(),
            error: MetaError::Format { found: 2 }
        }
    );
    assert_eq!(error.kafka_code(), KafkaCode::UnsupportedVersion);
    disk.put(&meta, b"");
    let error = open(&disk, &config()).unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::Meta {
                error: MetaError::Malformed { .. },
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_directory_with_something_else_in_it_is_left_alone() {
    for (name, bytes) in [
        ("notes.txt", &b"x"[..]),
        ("meta.properties", b"version=1\n"),
        ("__share_group_state-0/00000000000000000000.log", b"x"),
        ("orders-0/00000000000000000000.log", b"x"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let error =
            StateStore::open(dir.path(), &config(), |_| ControlFlow::Continue(())).unwrap_err();
        assert_eq!(
            error,
            OpenError::NotAStore {
                path: dir.path().to_owned()
            },
            "{name}"
        );
        let names = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(names, 1, "not even a lock file is made");
    }
}

/// The log of share groups has its home beside the state partitions, and may be there first.
#[test]
fn a_store_is_made_only_beside_what_a_store_has_in_its_directory() {
    let home = crate::layout::group_dir();
    for (dir, file, is_ours) in [
        (&*home, Some(META_FILE), true),
        (&home, Some(&*segment_name(0)), false),
        (&home, None, false),
        ("orders-0", Some(META_FILE), false),
        ("orders-0", None, false),
        ("__share_group_state-0", Some(META_FILE), false),
        ("__share_group_state-0", None, true),
    ] {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(dir)).unwrap();
        if let Some(file) = file {
            std::fs::write(root.path().join(dir).join(file), b"x").unwrap();
        }
        let opened = StateStore::open(root.path(), &config(), |_| ControlFlow::Continue(()));
        match opened {
            Ok(store) => assert!(
                is_ours && store.states().unwrap().is_empty(),
                "{dir}, {file:?}"
            ),
            Err(OpenError::NotAStore { .. }) => assert!(!is_ours, "{dir}, {file:?}"),
            Err(other) => panic!("{dir}, {file:?}: {other}"),
        }
    }
}

#[test]
fn a_store_is_not_made_unless_it_may_be() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("none");
    let config = StoreConfig {
        create: false,
        ..config()
    };
    let error = StateStore::open(&root, &config, |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error, OpenError::NotAStore { path: root.clone() });
    assert!(!root.exists());
}

#[test]
fn settings_out_of_range_are_refused_before_anything_is_made() {
    let disk = SimDisk::default();
    for bad in [
        StoreConfig {
            partitions: Some(0),
            ..config()
        },
        StoreConfig {
            partitions: Some(crate::MAX_PARTITIONS + 1),
            ..config()
        },
        StoreConfig {
            segment_bytes: 0,
            ..config()
        },
        StoreConfig {
            sync: crate::SyncPolicy::Interval { ms: 0 },
            ..config()
        },
        StoreConfig {
            coordinator: CoordinatorConfig {
                snapshot_update_records_per_snapshot: 501,
                ..CoordinatorConfig::default()
            },
            ..config()
        },
    ] {
        let error = open(&disk, &bad).unwrap_err();
        assert!(matches!(error, OpenError::Config(_)), "{error}");
    }
    assert_eq!(disk.files().len(), 0);
}

#[test]
fn a_load_tells_how_far_it_is_and_can_be_ended() {
    let disk = SimDisk::default();
    let config = StoreConfig {
        partitions: Some(2),
        ..config()
    };
    let store = open(&disk, &config).unwrap();
    for n in 0..20 {
        Command::Initialize(n).run(&store, 0).unwrap();
    }
    drop(store);
    let mut seen = Vec::new();
    let shared: Arc<dyn crate::disk::Disk> = Arc::new(disk.clone());
    drop(
        StateStore::open_on(
            Arc::clone(&shared),
            Path::new(ROOT),
            &config,
            &mut |progress| {
                seen.push(progress);
                ControlFlow::Continue(())
            },
        )
        .unwrap(),
    );
    assert_eq!(seen.len(), 3, "before each partition and at the end");
    let last = seen.last().unwrap();
    assert_eq!(
        (last.partitions_done, last.partitions_total, last.records),
        (2, 2, 20)
    );
    assert_eq!(last.bytes_done, last.bytes_total);
    assert!(last.bytes_total > 0);
    for (stop, told) in seen.iter().enumerate() {
        let before = disk.files();
        let mut calls = 0;
        let stopped =
            StateStore::open_on(Arc::clone(&shared), Path::new(ROOT), &config, &mut |_| {
                calls += 1;
                if calls > stop {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
        assert_eq!(stopped.unwrap_err(), OpenError::Interrupted(*told));
        assert_eq!(disk.files(), before);
    }
}
