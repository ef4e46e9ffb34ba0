//! Operation logs, what makes them, and the engines of this language that replay them (`benches/README.md`).

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a benchmark whose workload cannot be set up must stop"
)]
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "a test that cannot be set up must stop")
)]

pub mod arguments;
pub mod digest;
pub mod durable;
pub mod engine;
pub mod fold;
pub mod generate;
pub mod oplog;
pub mod persister;
pub mod replay;
pub mod result;
pub mod share_life;
pub mod state_topic;
pub mod stored;
