//! The promises, a file each. A check finds only what no order of the server's steps can explain: each took place after its
//! request left and before its answer came.

pub mod accepted;
pub mod available;
pub mod counts;
pub mod drained;
pub mod holders;
pub mod idle;
pub mod leaders;
pub mod start_offset;
pub mod unknown;
