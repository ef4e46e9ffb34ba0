//! What a share partition knows of its records and members, and the questions about it.

pub(super) mod activity;
pub(super) mod check;
pub(super) mod counters;
pub(super) mod inspect;
pub(super) mod member_name;
pub(super) mod members;
pub(super) mod preload;
pub(super) mod window;
