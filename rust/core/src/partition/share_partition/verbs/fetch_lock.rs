//! Fetch lock: a fetch that reads the log for a share partition holds it meanwhile, so that there is one at a time
//! (`SharePartition.maybeAcquireFetchLock`).
//!
//! Kafka frees the lock for whoever asks (KAFKA-19215 shows the harm); here a fetch frees only what it took.

use crate::partition::in_flight::InFlightStore;
use crate::partition::share_partition::{SharePartition, Status};

/// Id of the fetch that holds the lock.
#[derive(Clone, Debug, Default)]
pub(in crate::partition::share_partition) struct FetchLock(Option<u64>);

impl<S: InFlightStore> SharePartition<S> {
    /// Takes the fetch lock for the fetch `fetch_id`. True when it was free and the share partition is active.
    pub fn acquire_fetch_lock(&mut self, fetch_id: u64) -> bool {
        if self.status != Status::Active {
            return false;
        }
        let lock = &mut self.activity.make().occasional.make().fetch_lock;
        let free = lock.0.is_none();
        if free {
            lock.0 = Some(fetch_id);
        }
        free
    }

    /// Frees the fetch lock if `fetch_id` holds it, and tells whether it did.
    pub fn release_fetch_lock(&mut self, fetch_id: u64) -> bool {
        let Some(occasional) = self.occasional_mut() else {
            return false;
        };
        occasional
            .fetch_lock
            .0
            .take_if(|id| *id == fetch_id)
            .is_some()
    }
}
