//! The only crate of share_state that handles bytes: Kafka's record batches, the records of the state topic
//! `__share_group_state`, and requests and answers: those between share-partition leader and share coordinator, and those
//! of a share gateway.
//!
//! Every decoder guarantees:
//!
//! 1. No input panics, and every refusal says at which byte and why ([`WireError`]).
//! 2. Memory is bounded by the length of the input, never by a number written in it. Only decompression may go
//!    beyond, up to the stated [`Limits`].
//! 3. What is accepted can be written again, and for canonical input the bytes are the same.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod cursor;
mod error;
pub mod group_record;
pub mod messages;
pub mod partitioner;
mod primitives;
pub mod record_batch;
mod state_batch;
pub mod state_record;
mod varint;

pub use error::{WireError, WireErrorKind};
pub use record_batch::Limits;
