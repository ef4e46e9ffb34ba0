//! Room of the configuration: its bounds and defaults, and its text as properties.

pub mod limits;
pub mod properties;
