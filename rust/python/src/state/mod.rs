//! State of share partitions: what coordinators, stores and persisters keep.

pub mod coordinator;
pub mod data;
pub mod folded;
pub mod state_room;
pub mod store;
