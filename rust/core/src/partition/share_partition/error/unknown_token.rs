//! An answer to nothing that is under way.

use core::fmt;

/// The token names nothing that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownToken(pub u64);

impl fmt::Display for UnknownToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nothing with token {} is under way", self.0)
    }
}

impl core::error::Error for UnknownToken {}
