//! A client's idea of how full a state is, beside the state itself.

use share_state_core::coordinator::CoordinatorError;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{ReadStateResult, WriteState};
use share_state_core::state_batch::{StateBatch, StateBatches};
use share_state_core::state_room::{Admission, StateRoom};

fn key() -> SharePartitionKey {
    SharePartitionKey::new("g", TopicId([7; 16]), 0)
}

fn b(first: i64, last: i64, count: i16) -> StateBatch {
    StateBatch {
        first_offset: first,
        last_offset: last,
        delivery_state: 0,
        delivery_count: count,
    }
}

fn write(start_offset: i64, state_batches: Vec<StateBatch>) -> WriteState {
    WriteState {
        state_epoch: 0,
        leader_epoch: 0,
        start_offset,
        delivery_complete_count: -1,
        state_batches,
    }
}

/// State that the coordinator keeps.
#[derive(Default)]
struct Kept {
    start_offset: i64,
    batches: StateBatches,
}

impl Kept {
    fn after(&self, write: &WriteState) -> StateBatches {
        let start = self.start_offset.max(write.start_offset);
        let mut batches = self.batches.clone();
        batches.clip(start);
        batches.merge(&write.state_batches, start);
        batches
    }

    fn take(&mut self, write: &WriteState) {
        self.batches = self.after(write);
        self.start_offset = self.start_offset.max(write.start_offset);
    }

    fn read(&self) -> ReadStateResult {
        ReadStateResult {
            state_epoch: 0,
            start_offset: self.start_offset,
            state_batches: self.batches.to_vec(),
        }
    }
}

/// The next of a sequence of numbers that look random (xorshift).
fn drawn(seed: &mut u64, below: u64) -> i64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed % below) as i64
}

#[test]
fn only_what_fits_is_written_and_only_what_does_not_is_refused() {
    const ALLOWED: usize = 40;
    let mut seed = 0x5eed;
    let (mut kept, mut room) = (Kept::default(), StateRoom::new());
    let (mut reads, mut refused, mut written) = (0, 0, 0);
    for _ in 0..100_000 {
        let base = kept.start_offset;
        let start = if drawn(&mut seed, 20) == 0 {
            base + drawn(&mut seed, 60)
        } else {
            base - drawn(&mut seed, 3)
        };
        let batches = (0..drawn(&mut seed, 4))
            .map(|_| {
                let first = base - 2 + drawn(&mut seed, 140);
                let wide = drawn(&mut seed, 8) == 0;
                let last = first + drawn(&mut seed, if wide { 60 } else { 2 });
                b(first, last, drawn(&mut seed, 1_000) as i16)
            })
            .collect();
        let write = write(start, batches);

        let mut told = room.admit(&key(), &write, ALLOWED);
        if told == Ok(Admission::Unread) {
            reads += 1;
            room.read_again(&key(), &kept.read());
            told = room.admit(&key(), &write, ALLOWED);
            assert_ne!(
                told,
                Ok(Admission::Unread),
                "what has just been read is known"
            );
        }
        let after = kept.after(&write).len();
        match told {
            Ok(_) => {
                assert!(after <= ALLOWED);
                written += 1;
                // Some are refused by the coordinator, some happen and are not answered.
                let answer = drawn(&mut seed, 20);
                if answer != 0 {
                    kept.take(&write);
                }
                if answer > 1 {
                    room.confirmed(&key(), &write, ALLOWED);
                } else {
                    room.unconfirmed(&key());
                }
            }
            Err(error) => {
                assert!(after > ALLOWED);
                let allowed = ALLOWED;
                let batches = after;
                assert_eq!(error, CoordinatorError::StateFull { batches, allowed });
                refused += 1;
            }
        }
    }
    assert!(refused > 1_000 && written > 50_000, "{refused} {written}");
    // Neither far from the limit nor at it does every write read.
    assert!(reads < 20_000, "{reads}");
}

#[test]
fn far_from_the_limit_only_a_number_is_kept() {
    let mut room = StateRoom::new();
    let one = write(-1, vec![b(5, 5, 1)]);
    assert_eq!(room.admit(&key(), &one, 100), Ok(Admission::Unread));
    // Batches that lie side by side have an end in common: three ends here, five with another batch.
    let mut kept = Kept::default();
    kept.take(&write(0, vec![b(0, 0, 1), b(1, 1, 2)]));
    room.read(&key(), &kept.read());
    assert_eq!(room.admit(&key(), &one, 5), Ok(Admission::Fits));
    assert_eq!(room.admit(&key(), &one, 6), Ok(Admission::Unread));
    assert_eq!(room.admit(&key(), &one, 7), Ok(Admission::Fits));
    // An answer, whatever it is, changes no number.
    room.confirmed(&key(), &one, 7);
    room.unconfirmed(&key());
    assert_eq!(room.admit(&key(), &one, 9), Ok(Admission::Fits));
    room.forget(&key());
    assert_eq!(room.admit(&key(), &one, 100), Ok(Admission::Unread));
}

#[test]
fn a_write_is_a_record_too() {
    // The state covers all of it, so that the write would change nothing.
    let mut kept = Kept::default();
    kept.take(&write(0, vec![b(0, 100, 9)]));
    let apart = write(0, (0..6).map(|n| b(3 * n, 3 * n, 1)).collect());
    assert_eq!(kept.after(&apart).len(), 1);
    let mut room = StateRoom::new();
    room.read_again(&key(), &kept.read());
    let full = CoordinatorError::StateFull {
        batches: 6,
        allowed: 3,
    };
    assert_eq!(room.admit(&key(), &apart, 3), Err(full));
    assert_eq!(
        room.admit(&key(), &write(10, apart.state_batches), 3),
        Ok(Admission::Fits)
    );
}
