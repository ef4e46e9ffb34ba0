//! The aborted transactions of a slice, rebuilt from what was found when the batches arrived.
//!
//! The list of an answer is for the batches of that answer, from its first on. Given with a slice that begins later it may name
//! a transaction whose marker lies before the slice, and committed records of the same producer would be archived.

use share_state_core::share_partition::{AbortedTransaction, ControlType};

use crate::chunk::Batch;

/// The list while it grows, batch by batch.
#[derive(Debug, Default)]
pub(crate) struct AbortedList {
    pub list: Vec<AbortedTransaction>,
    /// Producers that the engine will take to be in an aborted transaction.
    open: Vec<i64>,
}

impl AbortedList {
    /// Takes the next batch in. False, and nothing is changed, when the slice must end before it: its records are committed, and
    /// with what stands before it they would be taken for aborted, as the marker between them is gone (compaction).
    pub fn take(&mut self, batch: &Batch) -> bool {
        let fetched = &batch.fetched;
        if self.open.is_empty() && !batch.aborted {
            return true;
        }
        let producer = fetched.producer_id;
        let open = self.open.iter().position(|id| *id == producer);
        match (fetched.control, open) {
            (Some(ControlType::Abort), Some(index)) => {
                self.open.swap_remove(index);
            }
            (None, None) if batch.aborted => {
                self.open.push(producer);
                self.list.push(AbortedTransaction {
                    producer_id: producer,
                    first_offset: fetched.base_offset,
                });
            }
            (None, Some(_)) if fetched.is_transactional && !batch.aborted => return false,
            _ => {}
        }
        true
    }
}
