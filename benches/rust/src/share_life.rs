//! Life of a share partition: what its consumers do to it, as the writes of its leader.

use std::collections::VecDeque;

use share_state_core::offset::OffsetRange;
use share_state_core::persister::WriteState;
use share_state_core::state_batch::StateBatch;

use crate::generate::Random;

const AVAILABLE: i8 = 0;
const ACKNOWLEDGED: i8 = 2;
const ARCHIVED: i8 = 4;
/// Deliveries after which a record is given up (Kafka: `group.share.delivery.count.limit`).
const DELIVERIES: i16 = 5;
/// Records of one acknowledgement, at most.
const A_WRITE: u64 = 20;
/// Ranges that wait to be delivered again, at most: the window stays small, as that of a group that keeps up.
const WAITING: usize = 8;

/// A share partition as its leader knows it. Most records are accepted at their first delivery; some are released, and then
/// hold the start offset back until they are accepted or given up.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// True while it has a state.
    pub is_there: bool,
    /// Epoch of that.
    pub state_epoch: i32,
    /// The offset after all that was delivered.
    head: i64,
    /// Released ranges with the number of their deliveries, in order.
    waiting: VecDeque<(OffsetRange, i16)>,
}

impl Life {
    /// It begins, again if it was there before.
    pub fn begin(&mut self) {
        *self = Self {
            is_there: true,
            state_epoch: self.state_epoch + 1,
            ..Self::default()
        };
    }

    /// Returns the next write of its leader.
    pub fn next_write(&mut self, random: &mut Random) -> WriteState {
        let is_again = self.waiting.len() >= WAITING || random.below(100) < 20;
        let (range, count) = if is_again && let Some((range, count)) = self.waiting.pop_front() {
            (range, count + 1)
        } else {
            let first = self.head;
            self.head += 1 + random.below(A_WRITE) as i64;
            let last = self.head - 1;
            (OffsetRange { first, last }, 1)
        };
        let mut state_batches = Vec::with_capacity(2);
        let mut end = |first, last, delivery_state| {
            state_batches.push(StateBatch {
                first_offset: first,
                last_offset: last,
                delivery_state,
                delivery_count: count,
            });
        };
        match random.below(100) {
            // Accepted up to a record in the middle, and released from there on.
            0..15 if count < DELIVERIES => {
                let middle = range.first + random.below(range.len()) as i64;
                if middle > range.first {
                    end(range.first, middle - 1, ACKNOWLEDGED);
                }
                end(middle, range.last, AVAILABLE);
                let first = middle;
                self.wait(OffsetRange { first, ..range }, count);
            }
            15..18 => end(range.first, range.last, ARCHIVED),
            _ if count >= DELIVERIES => end(range.first, range.last, ARCHIVED),
            _ => end(range.first, range.last, ACKNOWLEDGED),
        }
        let start_offset = self
            .waiting
            .front()
            .map_or(self.head, |(range, _)| range.first);
        let open: i64 = self
            .waiting
            .iter()
            .map(|(range, _)| range.len() as i64)
            .sum();
        WriteState {
            state_epoch: self.state_epoch,
            leader_epoch: 0,
            start_offset,
            delivery_complete_count: (self.head - start_offset - open) as i32,
            state_batches,
        }
    }

    fn wait(&mut self, range: OffsetRange, count: i16) {
        let place = self
            .waiting
            .partition_point(|(other, _)| other.first < range.first);
        self.waiting.insert(place, (range, count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_offset_rises_and_nothing_below_it_is_written() {
        let (mut life, mut random) = (Life::default(), Random::new(1));
        life.begin();
        let mut start = 0;
        let mut states = [0; 5];
        for _ in 0..10_000 {
            let write = life.next_write(&mut random);
            assert!(write.start_offset >= start);
            for batch in &write.state_batches {
                assert!(start <= batch.first_offset && batch.first_offset <= batch.last_offset);
                assert!((1..=DELIVERIES).contains(&batch.delivery_count));
                states[batch.delivery_state as usize] += 1;
            }
            assert!(write.delivery_complete_count >= 0);
            start = write.start_offset;
        }
        // Far more is accepted than released, and some is given up.
        assert!(states[2] > 3 * states[0] && states[0] > states[4] && states[4] > 100);
        assert!(start > 50_000);
    }
}
