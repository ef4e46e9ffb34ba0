//! Share groups: members, assignments, sessions and configuration.

pub mod assignor;
pub mod config;
pub mod properties;
pub mod share_groups;
pub mod share_sessions;
