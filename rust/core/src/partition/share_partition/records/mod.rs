//! Records and members that a share partition knows, and the questions about them.

pub(super) mod activity;
pub(super) mod check;
pub(super) mod counters;
pub(super) mod inspect;
pub(super) mod member_name;
pub(super) mod members;
pub(super) mod preload;
pub(super) mod window;
