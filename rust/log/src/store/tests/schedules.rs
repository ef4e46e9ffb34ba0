//! Threads on one store in orders that a scheduler draws: at each lock, and at each wait, it decides who goes on. A thread that
//! waits without end is found, and so is an answer that comes too early. A failure prints its schedule, which replays it.
//!
//! Half of the schedules switch at random; the others hold a thread back for as long as another can go on, but for a few moments
//! (probabilistic concurrency testing), and so find what needs one rare order.

use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Runner, thread};

use super::*;
use crate::disk::sim::Fault;
use crate::sync::Mutex;
use crate::trials::drawn_seed;

/// `SCHEDULES` asks for more of each kind than the tests of every day.
fn tries() -> usize {
    std::env::var("SCHEDULES").map_or(300, |text| text.parse().expect("SCHEDULES is a number"))
}

fn check(play: fn()) {
    let (seed, tries) = (drawn_seed(), tries());
    Runner::new(
        RandomScheduler::new_from_seed(seed, tries),
        Default::default(),
    )
    .run(play);
    Runner::new(
        PctScheduler::new_from_seed(seed, 3, tries),
        Default::default(),
    )
    .run(play);
}

const WRITERS: i32 = 3;
const WRITES: i64 = 3;

/// A store with a key of each writer, on a disk.
fn prepared(policy: SyncPolicy) -> (SimDisk, StoreConfig, Arc<StateStore>) {
    let config = StoreConfig {
        partitions: Some(thread_rng().gen_range(1..=2)),
        sync: policy,
        segment_bytes: if thread_rng().gen_bool(0.5) {
            1024
        } else {
            1 << 20
        },
        ..config()
    };
    let disk = SimDisk::default();
    let store = open(&disk, &config).unwrap();
    for n in 0..WRITERS {
        Command::Initialize(n).run(&store, 0).unwrap();
    }
    (disk, config, Arc::new(store))
}

/// Writes in one way or another.
fn write(
    store: &StateStore,
    n: i32,
    request: &WriteState,
    wall: WallTime,
) -> Result<(), StoreError> {
    if thread_rng().gen_bool(0.5) {
        return store.write(&key(n), request, wall);
    }
    let begun = store.begin_write(&key(n), request, wall)?;
    if store.try_end_write(&begun)? {
        AT_ONCE.fetch_add(1, Ordering::Relaxed);
        return Ok(());
    }
    store.end_write(begun)
}

static AT_ONCE: AtomicUsize = AtomicUsize::new(0);

/// Starts a thread for each key that writes until it is refused, and calls `told` after each answer.
fn writers(
    store: &Arc<StateStore>,
    told: impl Fn(i32, i64) + Clone + Send + 'static,
) -> Vec<thread::JoinHandle<(i64, Option<StoreError>)>> {
    let start = |n| {
        let (store, told) = (Arc::clone(store), told.clone());
        thread::spawn(move || {
            for i in 0..WRITES {
                let request = write_request(2 * i, 2 * i, 0);
                if let Err(refused) = write(&store, n, &request, WallTime(i)) {
                    return (i, Some(refused));
                }
                told(n, i + 1);
            }
            (WRITES, None)
        })
    };
    (0..WRITERS).map(start).collect()
}

fn joined(
    writers: Vec<thread::JoinHandle<(i64, Option<StoreError>)>>,
) -> Vec<(i64, Option<StoreError>)> {
    let join = |writer: thread::JoinHandle<_>| writer.join().unwrap();
    writers.into_iter().map(join).collect()
}

/// Number of writes of each key that a store holds.
fn kept(store: &StateStore) -> Vec<i64> {
    let states = store.states().unwrap();
    assert_eq!(states.len(), WRITERS as usize);
    let written = |(_, state): &(_, ShareGroupOffset)| state.state_batches.len() as i64;
    states.iter().map(written).collect()
}

/// The power fails right after an answer, with all lost that was not synced.
#[test]
fn an_answer_comes_after_its_sync() {
    check(|| {
        let (disk, config, store) = prepared(SyncPolicy::Always);
        let told = Arc::new(std::sync::Mutex::new([0; WRITERS as usize]));
        let at = thread_rng().gen_range(1..=i64::from(WRITERS) * WRITES);
        let crashed = Arc::new(std::sync::Mutex::new(None));
        let (seen, image, running) = (Arc::clone(&told), Arc::clone(&crashed), disk.clone());
        let writers = writers(&store, move |n, count| {
            let mut told = seen.lock().unwrap();
            told[usize::try_from(n).unwrap()] = count;
            if told.iter().sum::<i64>() == at {
                *image.lock().unwrap() = Some((running.after_crash(Loss::Everything), *told));
            }
        });
        assert!(joined(writers).iter().all(|(_, refused)| refused.is_none()));
        let (image, told) = crashed.lock().unwrap().take().unwrap();
        let kept = kept(&open(&image, &config).unwrap());
        for (kept, told) in kept.iter().zip(told) {
            assert!((told..=told + 1).contains(kept), "{kept} kept, {told} told");
        }
    });
}

static FAILED: AtomicUsize = AtomicUsize::new(0);

/// Nobody waits without end for the group that failed, nobody is told of one after it, and once the store has been closed nobody
/// writes.
#[test]
fn a_failure_is_told_to_all_who_wait() {
    check(|| {
        let (disk, config, store) = prepared(SyncPolicy::Always);
        disk.set_fault(Some(Fault::FailOnce(thread_rng().gen_range(0..8))));
        let writers = writers(&store, |_, _| {});
        let (closing, running) = (Arc::clone(&store), disk.clone());
        let closed = thread::spawn(move || (closing.close(), running.files()));
        let answers = joined(writers);
        let (closed, at_close) = closed.join().unwrap();
        assert_eq!(disk.files(), at_close, "a closed store has written");
        let mut failed = usize::from(closed.is_err());
        for (_, refused) in &answers {
            match refused {
                None | Some(StoreError::Closed) => {}
                Some(StoreError::Poisoned { .. }) => failed += 1,
                Some(other) => panic!("{other}"),
            }
        }
        FAILED.fetch_add(usize::from(failed > 1), Ordering::Relaxed);
        drop(store);
        disk.set_fault(None);
        let survivor = open(&disk.after_crash(Loss::Everything), &config).unwrap();
        for (kept, (told, _)) in kept(&survivor).iter().zip(&answers) {
            assert!(kept >= told, "{kept} kept, {told} told");
        }
    });
    let failed = FAILED.load(Ordering::Relaxed);
    assert!(
        failed > tries() / 4,
        "only {failed} schedules had a failure that several were told"
    );
}

/// Whoever was answered before the close finds its record after it, and nothing was torn.
#[test]
fn a_close_comes_at_any_time() {
    check(|| {
        let policy = POLICIES[usize::from(thread_rng().gen_bool(0.5)) * 2];
        let (disk, config, store) = prepared(policy);
        let writers = writers(&store, |_, _| {});
        let closing = Arc::clone(&store);
        let pruning = Arc::clone(&store);
        let pruned = thread::spawn(move || {
            pruning.cold_snapshots(WallTime(2000))?;
            pruning.prune()
        });
        let closed = thread::spawn(move || closing.close());
        assert_eq!(closed.join().unwrap(), Ok(()));
        let at_close = disk.files();
        assert!(matches!(
            pruned.join().unwrap(),
            Ok(_) | Err(StoreError::Closed)
        ));
        let answers = joined(writers);
        assert_eq!(disk.files(), at_close, "a closed store has written");
        let survivor = open(&disk, &config).unwrap();
        assert_eq!(survivor.recovery().torn, []);
        for (kept, (told, refused)) in kept(&survivor).iter().zip(&answers) {
            assert!(matches!(refused, None | Some(StoreError::Closed)));
            // The one that was refused may have been taken in before the close, but nobody was told so.
            assert!(
                (*told..=told + 1).contains(kept),
                "{kept} kept, {told} told"
            );
        }
    });
}

/// A ticket is reached once, and for good.
#[test]
fn a_flush_waits_for_what_was_accepted_before_it() {
    check(|| {
        let (disk, config, store) = prepared(SyncPolicy::Never);
        let told = Arc::new(Mutex::new([0; WRITERS as usize]));
        let seen = Arc::clone(&told);
        let writers = writers(&store, move |n, count| {
            seen.lock().unwrap()[usize::try_from(n).unwrap()] = count;
        });
        let flushing = Arc::clone(&store);
        let flushed = thread::spawn(move || {
            let before = *told.lock().unwrap();
            flushing.flush().unwrap();
            (disk.after_crash(Loss::Everything), before)
        });
        let (image, told) = flushed.join().unwrap();
        assert!(joined(writers).iter().all(|(_, refused)| refused.is_none()));
        let kept = kept(&open(&image, &config).unwrap());
        assert!(
            kept.iter().zip(told).all(|(kept, told)| *kept >= told),
            "{kept:?}, {told:?}"
        );
    });
    let at_once = AT_ONCE.load(Ordering::Relaxed);
    assert!(at_once > tries() / 4, "only {at_once} writes ended at once");
}
