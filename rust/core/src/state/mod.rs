//! Room of the state that is kept: the records of a state topic, the fold of them, and the verbs that write them.

pub mod coordinator;
pub mod group_offset;
pub mod history;
pub mod interval_tree;
pub mod state_batch;
pub mod state_room;
