//! placeholder
pub mod ids;
pub mod in_flight;
pub mod kafka_code;
pub mod offset;
pub mod persister;
pub mod record_state;
pub mod records;
pub mod state_batch;
pub mod time;
