#![doc = include_str!("../README.md")]
//!
//! The drafts name fields and their types, and say nothing of the bytes around them. This crate takes Kafka's non-flexible forms
//! for those: big-endian integers, a string with an `i16` length, an array with an `i32` count.
//!
//! Every decoder guarantees:
//!
//! 1. No input panics, and every refusal names the field and the byte ([`DraftError`]).
//! 2. Memory is bounded by the length of the input, never by a number written in it.
//! 3. The bytes of what is accepted, written again, are the same.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod control;
mod cursor;
mod effective;
mod error;
pub mod state_topic;
mod states;

pub use effective::EffectiveState;
pub use error::{CheckpointEpochExhausted, DraftError};
pub use states::as_written;
