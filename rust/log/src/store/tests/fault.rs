//! A disk that fails once and then works again: the store does not.

use super::*;
use crate::disk::sim::Fault;
use crate::error::PoisonCause;

#[test]
fn a_store_whose_disk_failed_once_answers_nothing_more() {
    let (config, script) = in_many_segments();
    let (_, history) = history(&config, &script);
    let mut faults = 0;
    for at in 0.. {
        let disk = SimDisk::default();
        let store = open(&disk, &config).unwrap();
        disk.set_fault(Some(Fault::FailOnce(at)));
        let failed = (0..).zip(&script).find_map(|(now, command)| {
            command
                .run(&store, i64::try_from(now).unwrap() * TICK)
                .err()
                .map(|error| (now, error))
        });
        if disk.operations() <= at {
            break;
        }
        // The fault may also have come after the script, in nothing: then there was no failure.
        let (acknowledged, error): (usize, _) = failed.unwrap();
        let StoreError::Poisoned { cause } = &error else {
            panic!("fault at {at}: {error}")
        };
        assert!(
            matches!(**cause, PoisonCause::Io(_)),
            "fault at {at}: {cause}"
        );
        for command in [
            Command::Write(0, 100),
            Command::Read(0, 0),
            Command::Delete(9),
            Command::ColdSnapshots,
            Command::Prune,
            Command::Flush,
        ] {
            assert_eq!(
                command.run(&store, 0),
                Err(error.clone()),
                "fault at {at}, {command:?}"
            );
        }
        assert_eq!(store.summary(&key(0)), Err(error.clone()));
        assert_eq!(store.states(), Err(error.clone()));
        assert_eq!(store.close(), Err(error));
        drop(store);
        for loss in Loss::ALL {
            let store = open(&disk.after_crash(loss), &config).unwrap();
            let states = store.states().unwrap();
            let with_the_one_in_flight = acknowledged + 1;
            assert!(
                history[acknowledged..=with_the_one_in_flight].contains(&states),
                "fault at {at}, {loss:?}"
            );
        }
        faults += 1;
    }
    assert!(faults > 50, "{faults} faults");
}

/// Errors of the disk, also while it reads, are taken for nothing else, be it that a store is made or loaded, or that
/// what a crash left is made good.
#[test]
fn an_error_at_any_operation_of_an_opening_is_told() {
    let config = StoreConfig {
        partitions: Some(2),
        ..config()
    };
    let (killed, _) = history(&config, &script());
    let torn = killed.copy();
    let bytes = torn.bytes(&segment(0, 0));
    torn.put(&segment(0, 0), &bytes[..bytes.len() - 1]);
    let mut faults = 0;
    for disk in [SimDisk::default(), killed, torn] {
        for at in 0.. {
            let image = disk.copy();
            image.set_fault(Some(Fault::AnyFailsOnce(at)));
            let opened = open(&image, &config);
            if image.asked() <= at {
                opened.unwrap();
                break;
            }
            let Err(OpenError::Io(failure)) = opened else {
                panic!("fault at {at}: {opened:?}")
            };
            assert!(failure.os_error.is_some(), "fault at {at}: {failure}");
            faults += 1;
        }
    }
    assert!(faults > 100, "{faults} faults");
}

#[test]
fn pruning_that_fails_is_told_and_harms_nothing() {
    let (config, script) = in_many_segments();
    let mut faults = 0;
    for at in 0.. {
        let disk = SimDisk::default();
        let store = open(&disk, &config).unwrap();
        for (now, command) in (0..).zip(&script) {
            command.run(&store, now * TICK).unwrap();
        }
        let states = store.states().unwrap();
        disk.set_fault(Some(Fault::FailOnce(at)));
        let pruned = store.prune();
        if disk.operations() <= at {
            assert!(pruned.unwrap() > 1);
            break;
        }
        assert!(
            matches!(pruned, Err(StoreError::Prune(_))),
            "fault at {at}: {pruned:?}"
        );
        disk.set_fault(None);
        assert_eq!(store.states().unwrap(), states);
        Command::Write(0, 60).run(&store, 5000).unwrap();
        store.prune().unwrap();
        let states = store.states().unwrap();
        drop(store);
        assert_eq!(
            open(&disk, &config).unwrap().states().unwrap(),
            states,
            "fault at {at}"
        );
        faults += 1;
    }
    assert!(faults > 5, "{faults} faults");
}

#[test]
fn a_store_that_fails_to_close_is_not_marked_whole() {
    let disk = SimDisk::default();
    let config = config();
    let store = open(&disk, &config).unwrap();
    Command::Initialize(0).run(&store, 0).unwrap();
    let states = store.states().unwrap();
    disk.set_fault(Some(Fault::PowerAt(0)));
    assert!(matches!(store.close(), Err(StoreError::Poisoned { .. })));
    assert_eq!(store.close(), Ok(()), "closing again does nothing");
    let image = disk.after_crash(Loss::Everything);
    assert_eq!(open(&image, &config).unwrap().states().unwrap(), states);
}

#[test]
fn a_forked_child_is_refused_and_leaves_the_store_alone() {
    let disk = SimDisk::default();
    let mut store = open(&disk, &config()).unwrap();
    Command::Initialize(0).run(&store, 0).unwrap();
    let parent = std::process::id();
    let inner = Arc::get_mut(&mut store.inner).unwrap();
    inner.opener.belongs_to(parent + 1);
    let forked = StoreError::Forked {
        opened_by: parent + 1,
    };
    for command in [
        Command::Write(0, 1),
        Command::Read(0, 0),
        Command::Prune,
        Command::Flush,
        Command::ColdSnapshots,
    ] {
        assert_eq!(command.run(&store, 0), Err(forked.clone()), "{command:?}");
    }
    assert_eq!(store.summary(&key(0)), Err(forked.clone()));
    assert_eq!(store.states(), Err(forked.clone()));
    assert_eq!(store.close(), Err(forked));
    let files = disk.files();
    drop(store);
    assert_eq!(disk.files(), files);
}

#[test]
fn a_panic_inside_poisons_the_store() {
    let disk = SimDisk::default();
    let store = open(&disk, &config()).unwrap();
    Command::Initialize(0).run(&store, 0).unwrap();
    let states = store.states().unwrap();
    let panicked = std::thread::scope(|scope| {
        let partition = &store.inner.partitions[0];
        scope
            .spawn(|| partition.inspect(|_| panic!("a bug, made on purpose")))
            .join()
    });
    assert!(panicked.is_err());
    let poisoned = StoreError::Poisoned {
        cause: Arc::new(PoisonCause::Panic),
    };
    assert_eq!(Command::Write(0, 1).run(&store, 0), Err(poisoned.clone()));
    assert_eq!(store.close(), Err(poisoned));
    drop(store);
    assert_eq!(open(&disk, &config()).unwrap().states().unwrap(), states);
}
