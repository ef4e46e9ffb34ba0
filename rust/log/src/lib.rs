//! A durable, embedded log for share-group state, in the format and layout of Kafka's own state topic. This crate reads what a
//! broker has written, and Kafka's tools read what this crate has written.
//!
//! - [`StateStore`] is the single writer of a directory: it decides with the core's coordinator, appends, syncs and answers.
//! - [`ShareGroupStore`] is the single writer of the log of share groups.
//! - [`mod@read`] reads any such directory, folder or segment, from a broker or from a store, without a lock.
//!
//! This is the only crate of share_state that does I/O. It guarantees:
//!
//! 1. An answer is given only once the log holds it, as durably as the [`SyncPolicy`] requires.
//! 2. One group commit is one record batch. Under [`SyncPolicy::Always`] each batch is written only after the sync of the previous
//!    one. A crash can therefore tear only the last batch, which is cut and reported. Any other damage is refused, and nothing is
//!    changed. After a clean close nothing is torn: a closed log with a missing byte is damaged.
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
mod budget;
mod checkpoint;
mod config;
mod corrupt;
mod counters;
mod damage;
mod disk;
mod end_note;
mod error;
mod group_store;
mod home;
mod journal;
mod layout;
mod mark;
mod meta;
mod opener;
mod page;
mod progress;
pub mod read;
mod segment_log;
#[cfg(feature = "sim")]
pub mod sim;
mod store;
mod sync;
mod tail;
#[cfg(test)]
mod trials;
mod wrong_header;

pub use config::{ConfigError, MAX_PARTITIONS, StoreConfig, SyncPolicy};
pub use corrupt::{CorruptKind, CorruptLog, TornTail};
pub use counters::Counters;
pub use damage::{Damage, Loss};
pub use disk::IoFailure;
pub use error::{OpenError, PoisonCause, StoreError};
pub use group_store::{
    Accepted, Expired, GroupAnswer, GroupConfigError, GroupStoreConfig, ShareGroupStore,
};
pub use layout::{GROUP_TOPIC, STATE_TOPIC};
pub use meta::{FORMAT_VERSION, MetaError};
pub use progress::Progress;
pub use store::{AcceptedWrite, Answers, Recovery, StateStore};
