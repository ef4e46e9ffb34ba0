//! Verbs of members, operators and the log on a share partition: a file each.

pub(super) mod acknowledge;
pub(super) mod acknowledge_check;
pub(super) mod acquire;
pub(super) mod acquire_request;
pub(super) mod dead_letter;
pub(super) mod fetch_lock;
pub(super) mod initialize;
pub(super) mod lock_timeout;
pub(super) mod log_start;
pub(super) mod new_batches;
pub(super) mod parts;
pub(super) mod release;
pub(super) mod throttle;
pub(super) mod transactions;
