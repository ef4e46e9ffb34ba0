//! One entry an offset: what is known of each record, by the plainest means.

use std::collections::BTreeMap;

use share_state_core::in_flight::InFlightStore;
use share_state_core::persister::WriteState;
use share_state_core::record_state::RecordState;
use share_state_core::share_partition::SharePartition;
use share_state_drafts::EffectiveState;

/// State id and delivery count by offset, from the start offset on. AVAILABLE and never delivered is no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub start_offset: i64,
    pub entries: BTreeMap<i64, (i8, i16)>,
}

impl Model {
    pub fn begin(start_offset: i64) -> Self {
        Self {
            start_offset,
            entries: BTreeMap::new(),
        }
    }

    /// Puts down a write, offset by offset.
    pub fn write(&mut self, write: &WriteState) {
        self.start_offset = self.start_offset.max(write.start_offset);
        for batch in &write.state_batches {
            for offset in batch.first_offset..=batch.last_offset {
                self.put(offset, batch.delivery_state, batch.delivery_count);
            }
        }
        self.settle();
    }

    fn put(&mut self, offset: i64, state: i8, count: i16) {
        match (state, count) {
            (0, 0) => self.entries.remove(&offset),
            _ => self.entries.insert(offset, (state, count)),
        };
    }

    fn settle(&mut self) {
        while let Some((2 | 4, _)) = self.entries.get(&self.start_offset) {
            self.start_offset += 1;
        }
        self.entries = self.entries.split_off(&self.start_offset);
    }

    /// What a share partition would leave if its leader were lost now: no acquisition, and its delivery did not happen.
    pub fn of_engine<S: InFlightStore>(engine: &SharePartition<S>) -> Self {
        let mut model = Self::begin(engine.start_offset());
        for run in engine.in_flight() {
            for offset in run.range.first..=run.range.last {
                match run.state {
                    RecordState::Acquired => model.put(offset, 0, run.delivery_count - 1),
                    state => model.put(offset, state.id(), run.delivery_count),
                }
            }
        }
        model.settle();
        model
    }
}

impl From<&EffectiveState> for Model {
    fn from(state: &EffectiveState) -> Self {
        let mut model = Self::begin(state.start_offset());
        for run in state.states() {
            for offset in run.first_offset..=run.last_offset {
                let before = model
                    .entries
                    .insert(offset, (run.delivery_state, run.delivery_count));
                assert_eq!(before, None, "runs are disjoint");
            }
        }
        model
    }
}
