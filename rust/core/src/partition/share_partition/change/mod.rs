//! Changes of the state of records, and their way to the persister.

pub(super) mod answer;
pub(super) mod changes;
pub(super) mod pending_writes;
pub(super) mod pipeline;
pub(super) mod pull;
pub(super) mod refusals;
pub(super) mod settle;
pub(super) mod writes;
