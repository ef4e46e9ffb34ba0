//! How records change state, and how a change reaches the persister.

pub(super) mod answer;
pub(super) mod changes;
pub(super) mod pending_writes;
pub(super) mod pipeline;
pub(super) mod pull;
pub(super) mod settle;
pub(super) mod writes;
