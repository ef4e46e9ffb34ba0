//! A script on a share partition over the store for use and over the obvious twin: every answer, write and dead letter is the same,
//! and so is the answer to every question after each operation.

use std::fmt::Write;

use share_state_core::in_flight::{
    AdaptiveStore, InFlightQuestions, InFlightStore, IntervalStore, MemberIndex, TwinStore,
};
use share_state_core::offset::OffsetRange;

use crate::share_script::{Bench, play};

/// Runs one script; tells whether some of its operations were taken.
pub fn run(data: &[u8]) -> bool {
    let mut twin = Vec::new();
    let taken = play::<TwinStore>(data, |bench, answer| twin.push(Seen::of(bench, answer)));
    alike::<IntervalStore>(data, &twin);
    // Small leaves, so that small windows have many.
    alike::<AdaptiveStore<8>>(data, &twin);
    taken > 2
}

fn alike<S: InFlightStore>(data: &[u8], twin: &[Seen]) {
    let mut expected = twin.iter();
    play::<S>(data, |bench, answer| {
        assert_eq!(Some(&Seen::of(bench, answer)), expected.next());
    });
    assert_eq!(expected.next(), None);
}

/// Everything that can be asked.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Text of the whole.
    text: String,
    /// The first available and the first outstanding record, and the first hole, from each of the first offsets on. They are the most
    /// by far, and no text is made of them.
    from: Vec<(Option<i64>, Option<i64>, i64)>,
}

impl Seen {
    fn of<S: InFlightStore>(bench: &Bench<S>, answer: &str) -> Self {
        let partition = &bench.partition;
        assert_eq!(partition.check(), Ok(()));
        let mut text = format!(
            "{answer} {:?} {:?} {:?} {} {} {} {} {} {:?} {:?} {} {:?} {:?}",
            bench.written,
            bench.dead,
            partition.status(),
            partition.start_offset(),
            partition.end_offset(),
            partition.delivery_complete_count(),
            partition.next_fetch_offset(),
            partition.can_acquire(),
            partition.gap_window(),
            partition.poll_timeout(),
            partition.window_len(),
            partition.state_counts(),
            partition.counters(),
        );
        for run in partition.in_flight() {
            let _ = write!(text, " {run:?}");
        }
        let store = partition.store();
        let _ = write!(text, " {:?} {:?}", store.counts(), store.next_deadline());
        for member in 0..4 {
            let _ = write!(text, " {}", store.holds(MemberIndex(member)));
        }
        let Some(bounds) = store.bounds() else {
            return Self {
                text,
                from: Vec::new(),
            };
        };
        let last = bounds.last.min(bounds.first + 30);
        let whole = OffsetRange::new(bounds.first, last).map(|range| store.held_in(range));
        let _ = write!(text, " {whole:?}");
        let offsets = bounds.first - 1..=last + 1;
        let from = offsets.map(|offset| {
            (
                store.first_available(offset),
                store.first_outstanding(offset),
                store.first_hole(offset),
            )
        });
        let from = from.collect();
        Self { text, from }
    }
}
