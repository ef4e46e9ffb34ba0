//! Rows of a state topic: decoded records, states, histories, anomalies.
//!
//! Each kind of row is declared once, with its columns in their order ([`table::Row`]); named tuples of Python, JSON of the
//! command line and Arrow columns are three ways to write the same cells down. Rows are made by machines that take the
//! records of whole state partitions in the order of their offsets ([`reader::Reader`] sees to that): all records of a key
//! go to one partition of `__share_group_state`, so within a key the offset is the order, and nothing need be grouped by key.
//! Memory is that of the live share partitions.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod common_columns;
pub mod decoded;
pub mod input;
pub mod live;
pub mod reader;
pub mod row_error;
pub mod state;
pub mod table;

pub mod anomaly;
pub mod columns;
pub mod history;
pub mod pump;
