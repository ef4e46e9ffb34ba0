//! placeholder
pub mod coordinator;
pub mod group_offset;
pub mod ids;
pub mod in_flight;
pub mod interval_tree;
pub mod kafka_code;
pub mod limits;
pub mod offset;
pub mod persister;
pub mod record_state;
pub mod records;
pub mod share_partition;
pub mod state_batch;
pub mod time;
