//! Persisted state, offset by offset: of each the greatest of `delivery count × 8 + state`. This merge needs no thought, so it
//! judges the others.

use share_state_core::persister::{ReadStateResult, WriteStateRef};
use share_state_core::state_batch::StateBatch;

use crate::persister::{Counting, Persister};

/// See the module.
#[derive(Debug, Default)]
pub struct Durable {
    /// Sizes of the writes.
    pub counts: Counting,
    partitions: Vec<Codes>,
}

/// Offsets from `base` on; those before it lay below a start offset that was written.
#[derive(Clone, Debug, Default)]
struct Codes {
    base: i64,
    codes: Vec<u32>,
}

impl Codes {
    fn forget_before(&mut self, start: i64) {
        let below = usize::try_from(start - self.base).unwrap_or(0);
        if below >= self.codes.len() {
            self.codes.clear();
            self.base = self.base.max(start);
        } else if below > self.codes.len() / 2 {
            self.codes.drain(..below);
            self.base = start;
        }
    }

    fn apply(&mut self, batch: &StateBatch) {
        let index = |offset: i64| usize::try_from(offset - self.base).unwrap_or(0);
        let (first, end) = (index(batch.first_offset), index(batch.last_offset + 1));
        if self.codes.len() < end {
            self.codes.resize(end, 0);
        }
        let code = (batch.delivery_count as u32) << 3 | batch.delivery_state as u32;
        for present in &mut self.codes[first..end] {
            *present = code.max(*present);
        }
    }
}

impl Durable {
    /// For this number of share partitions.
    #[must_use]
    pub fn of(partitions: u32) -> Self {
        Self {
            counts: Counting::default(),
            partitions: vec![Codes::default(); partitions as usize],
        }
    }

    /// Returns what is persisted of the records from `start` on, in maximal runs.
    #[must_use]
    pub fn batches(&self, partition: u32, start: i64) -> Vec<StateBatch> {
        let Codes { base, codes } = &self.partitions[partition as usize];
        let from = usize::try_from(start - base).unwrap_or(0).min(codes.len());
        let mut offset = base + from as i64;
        let mut runs = Vec::new();
        for run in codes[from..].chunk_by(|a, b| a == b) {
            let first = offset;
            offset += run.len() as i64;
            if run[0] > 0 {
                runs.push(StateBatch {
                    first_offset: first,
                    last_offset: offset - 1,
                    delivery_state: (run[0] & 7) as i8,
                    delivery_count: (run[0] >> 3) as i16,
                });
            }
        }
        runs
    }
}

impl Persister for Durable {
    fn write(&mut self, partition: u32, state: WriteStateRef<'_>) {
        self.counts.write(partition, state);
        let codes = &mut self.partitions[partition as usize];
        codes.forget_before(state.start_offset);
        for batch in state.state_batches {
            codes.apply(batch);
        }
    }

    fn read(&self, partition: u32, start: i64) -> ReadStateResult {
        ReadStateResult {
            state_epoch: 0,
            start_offset: start,
            state_batches: self.batches(partition, start),
        }
    }
}
