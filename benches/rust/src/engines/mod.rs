//! The engines that replay operation logs: share_state over either of its stores, and two naive models.
//!
//! The models show a class of complexity, no product: `naive_offset_map` keeps an entry for each offset, `flat_vec` a flat
//! list of runs. Both know only what the workloads use: no transactions, no throttling, no gap windows.

mod core;
mod flat_vec;
mod model;
mod naive_offset_map;
mod partition;

pub use self::core::{CoreEngine, nothing_read};
pub use flat_vec::FlatVec;
pub use model::ModelEngine;
pub use naive_offset_map::NaiveOffsetMap;
