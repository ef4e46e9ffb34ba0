//! The hot path of a gateway for Python: rings of record batches, deliveries, and the two answers that carry records.

mod answers;
mod delivery;
mod ring;

pub use answers::{decode_fetch_answer, encode_share_fetch_answer};
pub use delivery::Delivery;
pub use ring::BatchRing;
