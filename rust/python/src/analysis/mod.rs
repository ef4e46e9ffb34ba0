//! State topics and histories, read and checked.

pub mod anomalies;
pub mod as_of;
pub mod frames;
pub mod history;
pub mod history_check;
pub mod history_rows;
pub mod live;
pub mod scan;
