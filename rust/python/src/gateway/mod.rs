//! The hot path of a gateway for Python: its data plane as one object, and the upstream's answer to Fetch.

mod fetch_answer;
mod node;

pub use fetch_answer::decode_fetch_answer;
pub use node::{Node, WriteRound};
