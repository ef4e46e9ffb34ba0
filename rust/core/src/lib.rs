#![doc = include_str!("../README.md")]
//!
//! # What is in it
//!
//! * A [`share_partition::SharePartition`] decides who may hold which record, and hands out what it wants written.
//! * A [`coordinator::ShareCoordinator`] turns such a write into records of the state topic.
//! * [`share_group::ShareGroups`] decides who is a member of a share group and which partitions it is to consume, and turns
//!   that into records too; [`assignor`] spreads the partitions.
//! * The fold, [`group_offset::ShareGroupOffset`], turns records into state: the same function when writing, when loading and
//!   when inspecting.
//!
//! What is absent here, on purpose: a clock, I/O, threads, `unsafe`, dependencies. Time is an argument; what has to be
//! written, read or waited for is handed out as plain data. The two machines do not know each other; [`persister`] is
//! their contract.
//!
//! # Modules
//!
//! These are all public modules, in the order in which to read them. What is public in them is held to the rules of semantic
//! versions.
//!
//! | module | for |
//! |---|---|
//! | [`record_state`] | the rule: states, triggers and the transition table |
//! | [`in_flight`] | the structure: the store that is a parameter of a share partition, and its plain twin |
//! | [`share_partition`] | the verbs on the records of one share partition |
//! | [`persister`] | the contract between a share partition and whoever keeps its state |
//! | [`state_batch`] | what is kept of a range of records, and how changes of it merge |
//! | [`records`] | the records of the state topic |
//! | [`group_offset`] | the fold of records into state |
//! | [`coordinator`] | the verbs that turn a write into records |
//! | [`state_room`] | whether a write fits a state that is kept elsewhere |
//! | [`history`] | how a state became what it is |
//! | [`share_session`] | which partitions a member fetches |
//! | [`share_group`] | who is a member of a group; its records |
//! | [`assignor`] | which partitions each member is to consume |
//! | [`limits`] | configuration with its bounds and defaults |
//! | [`limits::properties`] | the same as Kafka's properties, in text |
//! | [`kafka_code`] | Kafka's error codes |
//! | [`ids`] | names of topics and share partitions |
//! | [`offset`] | the arithmetic of offsets |
//! | [`time`] | the two clocks |
//! | [`interval_tree`] | ordered runs that do not overlap, for whoever folds something of their own |

mod decision;
mod delivery;
mod groups;
pub mod ids;
pub mod kafka_code;
pub mod offset;
mod partition;
pub mod persister;
pub mod records;
mod settings;
mod state;
pub mod time;
mod util;

pub use groups::{assignor, share_group, share_session};
pub use partition::{in_flight, record_state, share_partition};
pub use state::{coordinator, group_offset, history, interval_tree, state_batch, state_room};

/// Configuration of share groups under Kafka's names, with its bounds and defaults.
pub mod limits {
    pub use crate::settings::limits::*;
    pub use crate::settings::properties;
}
