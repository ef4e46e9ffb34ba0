//! A durable, embedded log for share-group state, in the format and layout of Kafka's own state topic: what a broker
//! leaves can be read here, and what is written here Kafka's tools can open.
//!
//! - [`StateStore`] is the one writer of a directory: it decides with the core's coordinator, appends, syncs, answers.
//! - [`ShareGroupStore`] is the one writer of the log of share groups.
//! - [`mod@read`] looks at any such directory, folder or segment, from a broker or from a store, without locking it.
//!
//! This is the only crate of share_state that does I/O. Its promises:
//!
//! 1. Nothing is answered that is not in the log, as durably as the [`SyncPolicy`] asks.
//! 2. One group commit is one record batch, and under [`SyncPolicy::Always`] the next is written only after its sync.
//!    So a crash can tear the last batch only: that is cut and told. Any other damage is refused and nothing is changed, and
//!    after a clean close nothing is torn: a log that has not every byte with which it was closed is damaged.
//! 3. A failed append or sync poisons the store: no later answer pretends to be durable.
//!
//! ```
//! use std::ops::ControlFlow;
//! use share_state_core::{ids::{SharePartitionKey, TopicId}, persister::InitializeState, time::WallTime};
//! use share_state_log::{StateStore, StoreConfig, read};
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path();
//! let store = StateStore::open(path, &StoreConfig::default(), |_| ControlFlow::Continue(()))?;
//! let key = SharePartitionKey::new("orders-workers", TopicId([7; 16]), 0);
//! let request = InitializeState { state_epoch: 1, start_offset: 100 };
//! store.initialize(&key, &request, WallTime(1_700_000_000_000))?;
//! // Beside the writer, without locking:
//! let folded = read::fold(path, |_| ControlFlow::Continue(()))?;
//! assert_eq!(folded.states[0].state.start_offset, 100);
//! store.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch_reader;
mod checkpoint;
mod corrupt;
mod counters;
mod damage;
mod disk;
mod end_note;
mod group_store;
mod home;
mod journal;
mod layout;
mod meta;
pub mod read;
mod segment_log;
mod store;
mod tail;

pub use corrupt::{CorruptKind, CorruptLog, TornTail};
pub use counters::Counters;
pub use damage::{Damage, Loss};
pub use disk::IoFailure;
pub use group_store::{
    Accepted, Expired, GroupAnswer, GroupConfigError, GroupStoreConfig, ShareGroupStore,
};
pub use layout::{GROUP_TOPIC, STATE_TOPIC};
pub use meta::{FORMAT_VERSION, MetaError};
pub use store::{
    AcceptedWrite, Answers, ConfigError, MAX_PARTITIONS, OpenError, PoisonCause, Progress,
    Recovery, StateStore, StoreConfig, StoreError, SyncPolicy,
};
