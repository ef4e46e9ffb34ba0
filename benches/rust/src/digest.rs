//! Digest of all results of a replay in one number. Every runner computes it alike, whatever its language: a polynomial over
//! 64-bit integers that wrap, which vectorises and needs no library.

use share_state_core::state_batch::StateBatch;

use crate::engine::{Grant, Window};

/// The polynomial's point.
pub const POINT: u64 = 0x9E37_79B9_7F4A_7C15;

/// End mark of an operation, so that no two sequences of results read the same. The code is added to it.
const END: i64 = i64::MIN + 65_536;

/// Takes the results of operations in their order.
pub trait Results {
    /// Records were given. Adjacent ranges with one count are one, however batches are cut.
    fn grant(&mut self, grant: Grant);
    /// The operation has ended with this code.
    fn end(&mut self, code: i16);
    /// An offset was asked for.
    fn offset(&mut self, offset: i64);
    /// The state was looked at.
    fn state(&mut self, window: Window, durable: &[StateBatch]);
}

/// Takes results and lets them go.
#[derive(Debug, Default)]
pub struct Ignored;

impl Results for Ignored {
    fn grant(&mut self, grant: Grant) {
        std::hint::black_box(grant);
    }
    fn end(&mut self, code: i16) {
        std::hint::black_box(code);
    }
    fn offset(&mut self, offset: i64) {
        std::hint::black_box(offset);
    }
    fn state(&mut self, _: Window, _: &[StateBatch]) {}
}

/// The number.
#[derive(Debug, Default)]
pub struct Digest {
    sum: u64,
    /// A grant that the next may continue.
    open: Option<Grant>,
}

impl Digest {
    /// The number so far.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.sum
    }

    fn add(&mut self, value: i64) {
        self.sum = self
            .sum
            .wrapping_mul(POINT)
            .wrapping_add(value.cast_unsigned());
    }

    fn close(&mut self) {
        if let Some(grant) = self.open.take() {
            self.add(grant.first);
            self.add(grant.last);
            self.add(i64::from(grant.delivery_count));
        }
    }
}

impl Results for Digest {
    fn grant(&mut self, grant: Grant) {
        match &mut self.open {
            Some(open)
                if open.last + 1 == grant.first && open.delivery_count == grant.delivery_count =>
            {
                open.last = grant.last;
            }
            _ => {
                self.close();
                self.open = Some(grant);
            }
        }
    }

    fn end(&mut self, code: i16) {
        self.close();
        self.add(END + i64::from(code));
    }

    fn offset(&mut self, offset: i64) {
        self.add(offset);
    }

    fn state(&mut self, window: Window, durable: &[StateBatch]) {
        self.add(window.start);
        self.add(window.end);
        self.add(window.complete.cast_signed());
        for batch in durable {
            self.add(batch.first_offset);
            self.add(batch.last_offset);
            self.add(i64::from(batch.delivery_count) << 3 | i64::from(batch.delivery_state));
        }
        self.add(END);
    }
}
