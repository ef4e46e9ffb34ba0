//! The engines that replay operation logs: share_state over either of its stores, and two naive models.
//!
//! The models show a class of complexity, no product: `naive_offset_map` keeps an entry for each offset, `flat_vec` a flat
//! list of runs. Both play the workloads that have a curve, and know only the rules that these use.

mod core;
mod flat_vec;
mod naive;
mod naive_offset_map;

pub use self::core::{CoreEngine, nothing_read};
pub use flat_vec::FlatVec;
pub use naive::{NaiveEngine, is_naive};
pub use naive_offset_map::NaiveOffsetMap;
