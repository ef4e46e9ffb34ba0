//! Helpers that have nothing to do with share groups.

pub(crate) mod on_demand;
pub(crate) mod one_or_many;
pub(crate) mod quick_hash;
