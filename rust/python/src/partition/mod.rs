//! Share partitions: one, many in columns, and the writes that their calls lead to.

pub mod acquired_range;
pub mod agenda;
pub mod engine;
pub mod inline_writes;
pub mod partition_state;
pub mod persisters;
pub mod refusals;
pub mod seen;
pub mod share_partition;
pub mod share_partitions;
