//! Room of one share partition: its records in flight, their states, and the verbs on them.

pub mod in_flight;
pub mod record_state;
pub mod share_partition;
