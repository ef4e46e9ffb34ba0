//! The hot path of a gateway for Python: its data plane as one object, and the parts of it: rings of record batches, deliveries, and the
//! two answers that carry records.

mod answers;
mod delivery;
mod node;
mod ring;

pub use answers::{decode_fetch_answer, encode_share_fetch_answer};
pub use delivery::Delivery;
pub use node::{Node, WriteRound};
pub use ring::BatchRing;
