//! Simulated world: everything of share_state that is without I/O, driven by a seed.
//!
//! A world has members, brokers that lead share partitions, and a share coordinator on a simulated disk. Messages between them
//! are slow, lost or doubled; processes are killed, clocks make steps, disks fail, leaders overlap. One thread plays it, so a seed
//! always gives the same world. After every step the invariants are checked, and in the end what the members saw, by the checker
//! of histories.

mod broken;
mod campaign;
mod chance;
mod data_log;
mod fault;
mod ledger;
mod meeting;
mod plan;
mod recorder;
mod shrink;
mod world;

pub use broken::Broken;
pub use campaign::{Tally, play};
pub use fault::{Coming, Fault};
pub use meeting::{Meeting, Meetings};
pub use plan::{Cuts, Plan};
pub use shrink::{rule, shrink};
pub use world::{Played, World};
