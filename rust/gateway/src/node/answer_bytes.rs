//! Bytes of answers that clients have not taken, and of records that wait to be sent. Fetches wait while there are too many.

use super::limits::Limits;

/// An answer has no more than this part of the bytes that are left, so that a few clients that read slowly leave something to
/// others.
const PART: usize = 4;
/// Least bytes with which it is worth answering a fetch.
const LEAST: usize = 64 << 10;

/// Count of the bytes, over all connections. Those of records count from their acquisition on: many fetches may be tried before
/// an answer is sent.
#[derive(Debug, Default)]
pub(super) struct AnswerBytes {
    held: usize,
}

impl AnswerBytes {
    /// Bytes of records that one more answer may have; 0 for none now. A batch is not split, so one batch more may go out.
    pub fn allowed(&self, limits: &Limits) -> usize {
        let part = limits.answers.saturating_sub(self.held) / PART;
        if part >= LEAST {
            part
        } else if self.held == 0 {
            // While nobody holds any, an answer goes out however small the limit is.
            LEAST
        } else {
            0
        }
    }

    pub fn hold(&mut self, bytes: usize) {
        self.held += bytes;
    }

    pub fn give_back(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.held, "what is taken was held");
        self.held = self.held.saturating_sub(bytes);
    }

    pub const fn held(&self) -> usize {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_part_of_what_is_left_and_the_last_of_it_is_kept() {
        let limits = Limits {
            answers: 1 << 20,
            ..Limits::default()
        };
        let mut bytes = AnswerBytes::default();
        assert_eq!(bytes.allowed(&limits), 256 << 10);
        bytes.hold(512 << 10);
        assert_eq!(bytes.allowed(&limits), 128 << 10);
        bytes.hold(256 << 10);
        assert_eq!(bytes.allowed(&limits), 64 << 10);
        bytes.hold(1);
        assert_eq!(bytes.allowed(&limits), 0);
        bytes.give_back(bytes.held());
        let small = Limits {
            answers: 1,
            ..limits
        };
        assert_eq!(bytes.allowed(&small), LEAST);
    }
}
