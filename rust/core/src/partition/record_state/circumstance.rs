//! Circumstances that a transition depends on besides the record and the trigger.

/// The circumstances of a record when a trigger meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Circumstance {
    /// The record lies below the start offset, so nobody may be given it again.
    pub below_start_offset: bool,
    /// The record was delivered as often as the group allows (`share.delivery.count.limit`).
    pub attempts_over: bool,
    /// The group has a dead-letter queue (KIP-1191).
    pub dead_letter_queue: bool,
}

impl Circumstance {
    /// Every circumstance.
    pub const ALL: [Self; 8] = {
        let mut all = [Self::new(false, false, false); 8];
        let mut i = 0;
        while i < 8 {
            all[i] = Self::new(i & 1 != 0, i & 2 != 0, i & 4 != 0);
            i += 1;
        }
        all
    };

    const fn new(below_start_offset: bool, attempts_over: bool, dead_letter_queue: bool) -> Self {
        Self {
            below_start_offset,
            attempts_over,
            dead_letter_queue,
        }
    }

    /// Place in [`Self::ALL`].
    #[inline]
    pub(super) const fn index(self) -> usize {
        self.below_start_offset as usize
            | (self.attempts_over as usize) << 1
            | (self.dead_letter_queue as usize) << 2
    }
}

/// Value of one circumstance that a row of the table applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Either.
    Any,
    /// Only where it holds.
    Yes,
    /// Only where it does not.
    No,
}

impl When {
    /// Returns `true` if a row that says this applies.
    #[must_use]
    pub const fn applies(self, holds: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Yes => holds,
            Self::No => !holds,
        }
    }
}
