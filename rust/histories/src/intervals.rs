//! Times in order: what lies between them, and what is still to come.

use crate::event::Nanos;

/// Times in order, without overlaps.
#[derive(Debug, Default)]
pub struct Intervals(Vec<(Nanos, Nanos)>);

impl FromIterator<(Nanos, Nanos)> for Intervals {
    fn from_iter<I: IntoIterator<Item = (Nanos, Nanos)>>(times: I) -> Self {
        let mut all: Vec<(Nanos, Nanos)> = times.into_iter().collect();
        all.sort_unstable();
        let mut merged: Vec<(Nanos, Nanos)> = Vec::new();
        for (from, to) in all {
            match merged.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => merged.push((from, to)),
            }
        }
        Self(merged)
    }
}

impl Intervals {
    /// Returns true if one of them has an instant in common with a time.
    pub fn meets(&self, from: Nanos, to: Nanos) -> bool {
        let at = self.0.partition_point(|&(_, end)| end < from);
        self.0.get(at).is_some_and(|&(start, _)| start <= to)
    }

    /// The parts of a time that lie in none of them, in order, where they are longer than `least`.
    pub fn outside(
        &self,
        from: Nanos,
        to: Nanos,
        least: Nanos,
    ) -> impl Iterator<Item = (Nanos, Nanos)> {
        let at = self.0.partition_point(|&(_, end)| end <= from);
        let inside = self.0.iter().skip(at).copied();
        let inside = inside.take_while(move |&(start, _)| start < to);
        let mut since = from;
        let parts = inside
            .chain([(to, to)])
            .map(move |(start, end)| (std::mem::replace(&mut since, end), start));
        parts.filter(move |&(from, to)| to.saturating_sub(from) > least)
    }
}

/// Makes each time the earliest of itself and of those after it.
pub fn earliest_from_each<'a>(times: impl DoubleEndedIterator<Item = &'a mut Nanos>) {
    let mut earliest = Nanos::MAX;
    for time in times.rev() {
        earliest = earliest.min(*time);
        *time = earliest;
    }
}
