//! The two answers that carry record batches, read and written without a copy of their own.
//!
//! [`FetchAnswer`] tells where in the frame of an upstream's answer the batches of a partition lie. [`ShareFetchAnswer`] writes
//! the answer to a share consumer as a whole frame into memory that the caller has made, and takes the batches as slices of
//! the frames in which they came: so a record byte is copied once.

mod fetch_answer;
mod share_fetch_answer;
mod sink;

pub use fetch_answer::{FetchAnswer, FetchEndpoint, FetchedPartition, TopicRef};
pub use share_fetch_answer::{ShareFetchAnswer, ShareFetchFrame, ShareFetchPartition};

#[cfg(test)]
mod tests;
