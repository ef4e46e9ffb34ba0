//! Tests that need a real file system: locks, links, a directory that outlives the process.

use super::*;

fn open_in(root: &Path) -> Result<StateStore, OpenError> {
    StateStore::open(root, &config(), |_| ControlFlow::Continue(()))
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a").join("store");
    let first = open_in(&root).unwrap();
    Command::Initialize(0).run(&first, 0).unwrap();
    let pid = Some(std::process::id());
    let refused = open_in(&root).unwrap_err();
    assert_eq!(
        refused,
        OpenError::Locked {
            path: root.join(".lock"),
            pid
        }
    );
    assert!(
        refused
            .to_string()
            .contains(&std::process::id().to_string()),
        "{refused}"
    );
    Command::Write(0, 3).run(&first, 1).unwrap();
    let states = first.states().unwrap();
    first.close().unwrap();
    let second = open_in(&root).unwrap();
    assert_eq!(second.states().unwrap(), states);
    drop(second);
    open_in(&root).unwrap();
}

#[test]
fn dropping_a_store_closes_it() {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        sync: crate::SyncPolicy::Interval { ms: 60_000 },
        ..config()
    };
    let store = StateStore::open(dir.path(), &config, |_| ControlFlow::Continue(())).unwrap();
    Command::Initialize(0).run(&store, 0).unwrap();
    let meta = dir.path().join(crate::layout::META_FILE);
    assert!(
        std::fs::read_to_string(&meta)
            .unwrap()
            .contains("torn=unsynced")
    );
    drop(store);
    assert!(
        std::fs::read_to_string(&meta)
            .unwrap()
            .contains("torn=nothing")
    );
    assert_eq!(open_in(dir.path()).unwrap().states().unwrap().len(), 1);
}

#[test]
fn the_interval_thread_syncs_without_being_asked() {
    let disk = SimDisk::default();
    let config = StoreConfig {
        sync: crate::SyncPolicy::Interval { ms: 1 },
        ..config()
    };
    let store = open(&disk, &config).unwrap();
    Command::Initialize(0).run(&store, 0).unwrap();
    // The second record goes into the segment that is there, so only the thread syncs it.
    Command::Write(0, 1).run(&store, 0).unwrap();
    let after = store.states().unwrap();
    loop {
        let image = disk.after_crash(crate::disk::sim::Loss::Everything);
        let survivor = open(&image, &config).unwrap();
        if survivor.states().unwrap() == after {
            break;
        }
        std::thread::yield_now();
    }
}

#[test]
fn group_ids_never_become_paths() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("store");
    let store = open_in(&root).unwrap();
    for group in ["../../x", "/etc", "a/b", "..", "a\0b", &"g".repeat(32_767)] {
        let key = SharePartitionKey::new(group, TopicId([1; 16]), 0);
        store
            .initialize(
                &key,
                &InitializeState {
                    state_epoch: 1,
                    start_offset: 0,
                },
                WallTime(0),
            )
            .unwrap();
    }
    assert_eq!(store.states().unwrap().len(), 6);
    drop(store);
    let names = |dir: &Path| {
        let mut names: Vec<_> = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(dir.path()), ["store"]);
    assert_eq!(
        names(&root),
        [".lock", "__share_group_state-0", "share-state.meta"]
    );
    assert_eq!(
        names(&root.join("__share_group_state-0")),
        ["00000000000000000000.log"]
    );
    assert_eq!(open_in(&root).unwrap().states().unwrap().len(), 6);
}
