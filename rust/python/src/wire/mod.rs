//! Kafka's bytes: messages and records, to plain Python values and back.

pub mod batches;
pub mod codec;
pub mod plain;
pub mod records;
pub mod table_codec;
pub mod write_codec;
