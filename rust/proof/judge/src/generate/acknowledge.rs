//! Acknowledgements: of what a member holds, of anything else, and malformed ones.

use super::Generator;
use crate::operation::{Range, Verb};
use crate::outcome::{ACQUIRED, State};

impl Generator {
    pub(super) fn acknowledge(&mut self, state: &State) -> Verb {
        let member = self.member();
        let mut ranges = match self.random.below(100) {
            0..=79 => self.held_ranges(state, Some(member)),
            80..=87 => self.held_ranges(state, None),
            _ => Vec::new(),
        };
        if ranges.is_empty() {
            let mut at = state.start.saturating_sub(4).max(0);
            for _ in 0..self.random.between(1, 3) {
                let first = at + self.random.between(0, 10);
                let last = first + self.random.between(0, 12);
                ranges.push((first, last));
                at = last + 1;
            }
        }
        let mut ranges: Vec<Range> = ranges
            .into_iter()
            .map(|(first, last)| Range {
                first,
                last,
                types: self.types(last - first + 1),
            })
            .collect();
        if self.random.below(1_000) < self.malformed {
            self.spoil(&mut ranges);
        }
        let renews = ranges.iter().any(|r| r.types.contains(&4));
        Verb::Acknowledge {
            member,
            ranges,
            renew: renews && !self.random.one_in(20),
        }
    }

    /// Ranges, whole or in part, of what the member (or anybody) holds.
    fn held_ranges(&mut self, state: &State, member: Option<u8>) -> Vec<(i64, i64)> {
        let held = |run: &&crate::outcome::Run| {
            run.state == ACQUIRED && !run.pending && member.is_none_or(|m| m == run.member)
        };
        let mut stretches: Vec<(i64, i64)> = Vec::new();
        for run in state.runs.iter().filter(held) {
            match stretches.last_mut() {
                Some(last) if last.1 + 1 == run.first && self.random.percent(70) => {
                    last.1 = run.last
                }
                _ => stretches.push((run.first, run.last)),
            }
        }
        let wanted = self.random.pick(&[1, 1, 2, 3]);
        let mut ranges = Vec::new();
        let skip = self.random.below(stretches.len().max(1) as u64) as usize;
        for (first, last) in stretches.into_iter().skip(skip).take(wanted) {
            let (mut low, mut high) = (first, last);
            if self.random.percent(60) {
                low = self.random.between(first, last);
                high = self.random.between(low, last);
            }
            if low < high && self.random.percent(20) {
                let middle = self.random.between(low, high - 1);
                ranges.push((low, middle));
                low = middle + 1 + i64::from(middle + 2 <= high && self.random.percent(50));
            }
            ranges.push((low, high));
        }
        ranges
    }

    fn types(&mut self, len: i64) -> Vec<i8> {
        let kinds: &[i8] = if self.renews {
            &[1, 1, 2, 3, 0, 4, 4]
        } else {
            &[1, 1, 2, 2, 3, 0]
        };
        if self.random.percent(60) || len > 400 {
            return vec![self.random.pick(kinds)];
        }
        (0..len).map(|_| self.random.pick(kinds)).collect()
    }

    fn spoil(&mut self, ranges: &mut Vec<Range>) {
        match self.random.below(6) {
            0 => ranges.reverse(),
            1 => ranges[0].types.push(1),
            2 => ranges[0].types[0] = self.random.pick(&[5, -1, 77]),
            3 => ranges[0].first = -3,
            4 => ranges[0].types.clear(),
            _ => {
                let again = ranges[ranges.len() - 1].clone();
                ranges.push(Range {
                    first: again.last,
                    last: again.last + 1,
                    types: vec![1],
                });
            }
        }
    }
}
