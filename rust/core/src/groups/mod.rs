//! Room of the groups: their members, the partitions of each member, and the sessions in which it fetches them.

mod assignment;
pub mod assignor;
pub mod share_group;
pub mod share_session;
