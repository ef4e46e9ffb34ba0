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
//! Read in this order: [`record_state`] (the rule), [`in_flight`] (the structure), [`share_partition`] (the verbs),
//! [`state_batch`] and [`group_offset`] (how changes become state), [`coordinator`], [`history`] (how state became so).

pub mod assignment;
pub mod assignor;
pub mod coordinator;
pub mod decision;
pub mod group_offset;
pub mod history;
pub mod ids;
pub mod in_flight;
pub mod inline_persister;
pub mod interval_tree;
pub mod kafka_code;
pub mod limits;
pub mod offset;
pub mod persister;
pub mod record_state;
pub mod records;
pub mod share_group;
pub mod share_partition;
pub mod share_session;
pub mod state_batch;
pub mod time;
pub mod util;
