//! A share partition over either store.

use share_state_core::in_flight::{IntervalStore, TwinStore};
use share_state_core::share_partition::SharePartition;

/// A share partition whose store was chosen at run time: the leaves to work with, the twin to compare with.
pub enum Engine {
    Leaves(SharePartition<IntervalStore>),
    Twin(SharePartition<TwinStore>),
}

/// Runs the same expression on whichever share partition it is.
macro_rules! each {
    ($engine:expr, $sp:ident => $work:expr) => {
        match $engine {
            $crate::partition::engine::Engine::Leaves($sp) => $work,
            $crate::partition::engine::Engine::Twin($sp) => $work,
        }
    };
}
pub(crate) use each;
