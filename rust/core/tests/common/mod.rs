//! Common parts of the suites of the share partition: every one of them runs over both stores.

#![allow(dead_code, reason = "each suite uses its part")]

pub mod lab;
pub mod script;
pub mod view;

/// Makes two tests of each generic function, one over the obvious twin and one over the interval tree. A function that
/// is forgotten here is an unused one, so the compiler tells.
#[macro_export]
macro_rules! on_both_stores {
    ($($name:ident),* $(,)?) => {
        mod twin {
            use share_state_core::in_flight::TwinStore;
            $(#[test] fn $name() { super::$name::<TwinStore>(); })*
        }
        mod tree {
            use share_state_core::in_flight::IntervalStore;
            $(#[test] fn $name() { super::$name::<IntervalStore>(); })*
        }
    };
}
