//! The answers to writes, for a caller who asks by token after the answer came: another caller may have carried the write.
//!
//! An answered write is confirmed unless a refusal is noted here, so a share partition whose writes succeed keeps nothing.

use core::ops::Range;

use crate::kafka_code::KafkaCode;
use crate::partition::in_flight::InFlightStore;
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::error::UnknownToken;
use crate::persister::WriteToken;

/// Runs of refused writes that are kept: 24 KiB at most.
const MOST_RUNS: usize = 1_024;

/// Refused writes with tokens from `first` to `last` and one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    last: u64,
    /// The code for the member.
    code: KafkaCode,
}

/// The refused writes, ascending. The oldest are forgotten first.
#[derive(Clone, Debug, Default)]
pub(in crate::partition::share_partition) struct Refusals {
    runs: Vec<Run>,
    /// Answers to writes with smaller tokens are forgotten.
    known_from: u64,
}

impl Refusals {
    /// Notes the code for the member of a write.
    pub fn note(&mut self, WriteToken(token): WriteToken, code: KafkaCode) {
        let at = self.runs.partition_point(|run| run.last < token);
        if let Some(before) = at
            .checked_sub(1)
            .and_then(|before| self.runs.get_mut(before))
            && before.code == code
            && token - before.last == 1
        {
            before.last = token;
            return;
        }
        if token < self.known_from {
            return;
        }
        let run = Run {
            first: token,
            last: token,
            code,
        };
        self.runs.insert(at, run);
        if self.runs.len() > MOST_RUNS {
            self.known_from = self.runs.remove(0).last + 1;
        }
    }

    /// The code of an answered write; `None` if it is forgotten.
    fn code(&self, WriteToken(token): WriteToken) -> Option<KafkaCode> {
        if token < self.known_from {
            return None;
        }
        let at = self.runs.partition_point(|run| run.last < token);
        let refused = self.runs.get(at).filter(|run| run.first <= token);
        Some(refused.map_or(KafkaCode::None, |run| run.code))
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// Tokens of the writes that wait to be handed out.
    #[must_use]
    pub fn tokens_to_poll(&self) -> Range<u64> {
        self.activity
            .get()
            .map_or(0..0, |activity| activity.writes.tokens_to_hand_out())
    }

    /// The code for the member of a write, whoever carried it: [`KafkaCode::None`] when it was confirmed; `None` while it is not
    /// answered.
    ///
    /// # Errors
    /// No write has this token, or the answer is forgotten: more than a thousand runs of refused writes came after it.
    pub fn write_answer(&self, token: WriteToken) -> Result<Option<KafkaCode>, UnknownToken> {
        let unknown = UnknownToken(token.0);
        let activity = self.activity.get().ok_or(unknown)?;
        if token.0 >= activity.writes.made() {
            return Err(unknown);
        }
        if activity.writes.place(token).is_some() {
            return Ok(None);
        }
        let code = match self.occasional() {
            None => Some(KafkaCode::None),
            Some(occasional) => occasional.refusals.code(token),
        };
        code.map(Some).ok_or(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_code_are_one_run_and_the_oldest_runs_are_forgotten() {
        let mut refusals = Refusals::default();
        for token in 5..10_000 {
            refusals.note(WriteToken(token), KafkaCode::NotCoordinator);
        }
        assert_eq!(refusals.runs.len(), 1);
        assert_eq!(refusals.code(WriteToken(4)), Some(KafkaCode::None));
        assert_eq!(
            refusals.code(WriteToken(9_999)),
            Some(KafkaCode::NotCoordinator)
        );
        // The answers of older writes may come later.
        refusals.note(WriteToken(2), KafkaCode::UnknownServerError);
        assert_eq!(
            refusals.code(WriteToken(2)),
            Some(KafkaCode::UnknownServerError)
        );
        assert_eq!(refusals.code(WriteToken(3)), Some(KafkaCode::None));

        for token in (10_001..).step_by(2).take(MOST_RUNS) {
            refusals.note(WriteToken(token), KafkaCode::NotCoordinator);
        }
        assert_eq!(refusals.runs.len(), MOST_RUNS);
        assert_eq!(refusals.code(WriteToken(9_999)), None);
        refusals.note(WriteToken(3), KafkaCode::NotCoordinator);
        assert_eq!(refusals.code(WriteToken(3)), None);
        assert_eq!(refusals.code(WriteToken(10_000)), Some(KafkaCode::None));
        assert_eq!(
            refusals.code(WriteToken(10_001)),
            Some(KafkaCode::NotCoordinator)
        );
    }
}
