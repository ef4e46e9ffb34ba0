//! The hot path of a share gateway: record batches of an upstream's Fetch answers to what a ShareFetch answer holds.
//!
//! ```text
//! frame of a Fetch answer ─► BatchRing::append ─► batches by offset, the bytes where they are
//!                            deliver: next fetch offset ─► slice ─► SharePartition::acquire ─► whole batches
//! frame of a ShareFetch answer ◄─ ShareFetchAnswer ◄─ Delivery: ranges, and pieces of the frames
//! ```
//!
//! **How often a record byte is copied.** Once: from the frame in which it came to the frame in which it leaves. A ring and a
//! [`Delivery`] hold the frame itself ([`Buffer`]), and of a batch only what its header says. The one exception is
//! [`BatchRing::compact`], which a caller asks for when little of a frame is left.
//!
//! [`node`] is the data plane around it, as one machine.
//!
//! No clock, no I/O, no threads, as in the core: time is an argument, and who reads and waits is somebody else.

mod aborted;
mod buffer;
mod chunk;
mod deliver;
mod delivery;
mod error;
mod evict;
mod look;
pub mod node;
mod ring;
mod run;
mod slice;

pub use buffer::Buffer;
pub use deliver::{Wanted, deliver};
pub use delivery::Delivery;
pub use error::AppendError;
pub use ring::{Appended, BatchRing, Read};

#[cfg(test)]
mod tests;
