//! A persister that answers while the share partition waits, for [`SharePartition::settle`].
//!
//! Kafka's `SharePartition` is given its `Persister` and calls it inside `acknowledge`. Here that is one way of two: whoever
//! keeps the state elsewhere polls for the writes and tells the answers later.
//!
//! [`SharePartition::settle`]: crate::share_partition::SharePartition::settle

use crate::ids::SharePartitionKey;
use crate::kafka_code::KafkaCode;
use crate::persister::WriteStateRef;

/// Whoever takes a write and answers at once (Kafka: `Persister.writeState`, with a future that is complete).
pub trait InlinePersister {
    /// Takes a write; writes of one share partition come in the order in which they were made. The answer is
    /// [`KafkaCode::None`] once the write is as durable as the persister promises, else why it was refused.
    fn write_state(&mut self, key: &SharePartitionKey, state: WriteStateRef<'_>) -> KafkaCode;
}

/// Confirms everything and keeps nothing (Kafka: `NoOpStatePersister`): for simulators, tests and benchmarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoOpStatePersister;

impl InlinePersister for NoOpStatePersister {
    fn write_state(&mut self, _: &SharePartitionKey, _: WriteStateRef<'_>) -> KafkaCode {
        KafkaCode::None
    }
}
