//! Rounds that threads wait for, sizes of groups, and threads that are woken.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use share_state_wire::record_batch::Compression;

use super::group::{GROUP_BYTES, REQUEST_BYTES, Records};
use super::group_commit::Leader;
use super::*;
use crate::disk::Disk;
use crate::disk::sim::{Fault, SimDisk};
use crate::segment_log::Checked;
use share_state_core::time::WallTime;

/// A machine of records that are so many bytes.
#[derive(Debug)]
struct Sizes;

impl Machine for Sizes {
    type Record = usize;

    fn append_key(size: &usize, out: &mut Vec<u8>) -> Result<(), WireError> {
        out.resize(out.len() + size, 0);
        Ok(())
    }

    fn append_value(_: &usize, _: &mut Vec<u8>) -> Result<bool, WireError> {
        Ok(false)
    }

    fn replay(&mut self, _: i64, _: &usize) {}
}

fn records(sizes: &[usize]) -> Records {
    Records::encode_all::<Sizes>(Records::default(), sizes, WallTime(0)).unwrap()
}

fn group(base_offset: i64, next_offset: i64) -> Group {
    let sizes = vec![0; usize::try_from(next_offset - base_offset).unwrap()];
    Group::new(base_offset, records(&sizes))
}

const FRAMING: Framing = Framing {
    compression: Compression::None,
    mark: 1,
};

fn journal(disk: &SimDisk, sync: SyncPolicy) -> Journal<Sizes> {
    let tally = Arc::new(Tally::default());
    let dir = Path::new("/log");
    disk.create_dir(dir).unwrap();
    let log = SegmentLog::open(
        Arc::new(disk.clone()),
        dir.to_owned(),
        1 << 20,
        sync.into(),
        &Checked::default(),
        Arc::clone(&tally),
    )
    .unwrap();
    let poison = Arc::default();
    Journal::new(Sizes, log, 0, sync, FRAMING, tally, poison)
}

/// A thread may look for its round while its own group is being written and the next group has formed.
#[test]
fn a_thread_waits_for_the_round_that_writes_its_records() {
    let shared = Shared {
        machine: Sizes,
        groups: [group(8, 9), group(9, 12)].into(),
        next_offset: 12,
        appended: 5,
        synced: 5,
        led: true,
        round: 7,
        waiting: 0,
        spare: Records::default(),
        closed: false,
        rewriting: None,
    };
    for (ticket, round) in [
        (0, 7),
        (5, 7),
        (6, 7),
        (8, 7),
        (9, 8),
        (10, 9),
        (11, 9),
        (12, 9),
    ] {
        assert_eq!(shared.round_of(ticket), round, "ticket {ticket}");
    }
}

#[test]
fn a_group_takes_records_up_to_its_size_and_no_byte_more() {
    let mut group = Group::new(0, records(&[GROUP_BYTES - 7]));
    assert!(group.has_room_for(&records(&[7])));
    assert!(group.has_room_for(&records(&[3, 4])));
    assert!(!group.has_room_for(&records(&[8])));
    group.add(records(&[6]));
    assert!(group.has_room_for(&records(&[1])));
    assert!(!group.has_room_for(&records(&[2])));
    assert!(!Group::whole(0, records(&[1])).has_room_for(&records(&[1])));
}

#[test]
fn all_that_lives_is_written_in_batches_of_the_usual_size() {
    let batches = |sizes: &[usize]| {
        Group::whole(0, records(sizes))
            .append_batches(FRAMING, &mut Vec::new())
            .unwrap()
    };
    assert_eq!(batches(&[GROUP_BYTES - 3, 3]), 1);
    assert_eq!(batches(&[GROUP_BYTES - 3, 3, 1]), 2);
    assert_eq!(batches(&[GROUP_BYTES + 1, GROUP_BYTES + 1]), 2);
}

#[test]
fn a_decision_takes_bytes_up_to_its_bound_and_no_byte_more() {
    let encoded = |sizes: &[usize]| {
        Records::encode::<Sizes>(Records::default(), sizes, WallTime(0)).map(|all| all.len())
    };
    assert_eq!(encoded(&[1, REQUEST_BYTES - 1]), Ok(2));
    assert_eq!(
        encoded(&[1, REQUEST_BYTES]),
        Err(StoreError::TooLarge {
            bytes: REQUEST_BYTES + 1,
            limit: REQUEST_BYTES
        })
    );
}

#[test]
fn a_log_is_rewritten_once_it_is_larger_than_its_least_size() {
    let mut rewriting = Rewriting::new(10, 4);
    assert!(!rewriting.grown(6));
    assert!(rewriting.grown(1));
}

/// Takes in a record; the ticket that tells when it is durable.
fn taken_in(journal: &Journal<Sizes>) -> i64 {
    let mut shared = journal.enter().unwrap();
    journal.take_in(&mut shared, &[1], WallTime(0)).unwrap();
    shared.ticket()
}

#[test]
fn a_ticket_is_reached_as_the_policy_requires() {
    for (sync, synced) in [(SyncPolicy::Always, 1), (SyncPolicy::Never, 0)] {
        let journal = journal(&SimDisk::default(), sync);
        let ticket = taken_in(&journal);
        assert_eq!(journal.has_reached(ticket), Ok(false), "{sync:?}");
        journal.await_ticket(ticket).unwrap();
        assert_eq!(journal.has_reached(ticket), Ok(true), "{sync:?}");
        let on_disk = || journal.lock().unwrap().reached(Durability::OnDisk);
        assert_eq!(on_disk(), synced, "{sync:?}");
        journal.flush().unwrap();
        assert_eq!(on_disk(), 1, "{sync:?}");
    }
}

#[test]
fn a_log_of_which_nothing_lives_is_not_rewritten() {
    let record = Box::new(|_, _| panic!("the log begins where it did"));
    let due = Rewriting::new(0, 0);
    let journal = journal(&SimDisk::default(), SyncPolicy::Always).rewritten(due, record);
    let ticket = taken_in(&journal);
    assert_eq!(journal.lock().unwrap().groups.len(), 1);
    journal.await_ticket(ticket).unwrap();
}

/// A thread leads, and waits for the log, which the test holds.
#[test]
fn who_wants_quiet_waits_for_the_thread_that_writes() {
    let journal = Arc::new(journal(&SimDisk::default(), SyncPolicy::Always));
    let ticket = taken_in(&journal);
    let log = journal.log().unwrap();
    let (writes, wants_quiet) = (Arc::clone(&journal), Arc::clone(&journal));
    let writer = std::thread::spawn(move || writes.await_ticket(ticket));
    while !journal.lock().unwrap().led {
        std::thread::yield_now();
    }
    let waiter = std::thread::spawn(move || {
        wants_quiet.quiesce();
        wants_quiet.lock().unwrap().led
    });
    while !journal.lock().unwrap().closed && !waiter.is_finished() {
        std::thread::yield_now();
    }
    drop(log);
    assert!(!waiter.join().unwrap(), "a thread still writes");
    assert_eq!(writer.join().unwrap(), Ok(()));
}

/// A thread that waits is asleep, for the mutex under which it took in its record is free while another thread leads.
#[test]
fn a_leader_that_panics_poisons_the_journal_and_wakes_who_waits() {
    let journal = Arc::new(journal(&SimDisk::default(), SyncPolicy::Always));
    journal.lock().unwrap().led = true;
    let (leads, waits) = (Arc::clone(&journal), Arc::clone(&journal));
    let (done, told) = channel();
    std::thread::spawn(move || {
        let mut shared = waits.enter().unwrap();
        waits.take_in(&mut shared, &[1], WallTime(0)).unwrap();
        let ticket = shared.ticket();
        done.send(waits.wait(shared, ticket, Durability::ByPolicy))
    });
    while journal.enter().unwrap().ticket() < 1 {
        std::thread::yield_now();
    }
    let leader = std::thread::spawn(move || {
        let _leader = Leader { journal: &leads };
        panic!("while it writes");
    });
    assert!(leader.join().is_err());
    let poisoned = StoreError::Poisoned {
        cause: Arc::new(PoisonCause::Panic),
    };
    assert_eq!(journal.healthy(), Err(poisoned.clone()));
    let answer = told.recv_timeout(Duration::from_secs(60));
    assert_eq!(answer, Ok(Err(poisoned)));
}

const WAITING: usize = 6;

/// The thread that leads waits for the log, which the test holds; the others are asleep, because a thread frees the
/// mutex under which it took in its record only when it leads or sleeps.
#[test]
fn all_who_wait_hear_of_a_write_that_failed() {
    let disk = SimDisk::default();
    let journal = Arc::new(journal(&disk, SyncPolicy::Always));
    let log = journal.log().unwrap();
    let (done, told) = channel();
    for _ in 0..WAITING {
        let (journal, done) = (Arc::clone(&journal), done.clone());
        std::thread::spawn(move || {
            let mut shared = journal.enter().unwrap();
            journal
                .take_in(&mut shared, &[1], WallTime(0))
                .expect("nothing failed yet");
            let ticket = shared.ticket();
            let answer = journal.wait(shared, ticket, Durability::ByPolicy);
            done.send(answer).unwrap();
        });
    }
    while journal.enter().unwrap().ticket() < WAITING as i64 {
        std::thread::yield_now();
    }
    disk.set_fault(Some(Fault::FailOnce(0)));
    drop(log);
    for at in 0..WAITING {
        let answer = told.recv_timeout(Duration::from_secs(60));
        let answer = answer.unwrap_or_else(|_| panic!("only {at} of {WAITING} were told"));
        assert!(
            matches!(answer, Err(StoreError::Poisoned { .. })),
            "{answer:?}"
        );
    }
}
