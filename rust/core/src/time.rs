//! Two kinds of time that cannot be mixed, both given by the caller: the core reads no clock.

/// Milliseconds on the caller's monotonic clock. Acquisition locks live on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LockTime(pub i64);

impl LockTime {
    /// The moment `duration_ms` later; stays at the end of time instead of wrapping.
    #[must_use]
    pub const fn plus(self, duration_ms: i64) -> Self {
        Self(self.0.saturating_add(duration_ms))
    }
}

/// Milliseconds since the epoch on the wall clock. Record and snapshot timestamps live on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WallTime(pub i64);
