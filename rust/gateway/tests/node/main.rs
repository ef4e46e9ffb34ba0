//! The node, driven as a gateway drives it: bytes of clients in, answers out, and everything that it needs from a model of the
//! world around it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the helpers of tests assert"
)]

mod ahead;
mod answers;
mod bytes;
mod client;
mod comparison;
mod configs;
mod counts;
mod damage;
mod fences;
mod fetching;
mod frames;
mod listing;
mod loads;
mod locks;
mod logs;
mod lookups;
mod members;
mod memory;
mod model;
mod pieces;
mod refusals;
mod reloads;
mod scene;
mod sequences;
mod settings;
mod shares;
mod shown;
mod states;
mod sweeps;
mod transactions;
mod truncation;
mod upstream;
mod waits;
mod wakes;
mod world;
mod writes;
