//! A script on a share partition, and what must hold of it whatever happens: the start offset does not go back and passes nothing
//! outstanding but what the log start has passed, an accepted record is never delivered again, and what was written says what memory
//! says once nothing is under way.

use std::collections::BTreeMap;

use share_state_core::in_flight::IntervalStore;
use share_state_core::record_state::{Phase, RecordState};

use crate::share_script::{Bench, play};

/// A record as it was seen last.
type Record = (RecordState, Phase, i16, Option<String>);

/// Runs one script; tells whether some of its operations were taken.
pub fn run(data: &[u8]) -> bool {
    let mut before = Seen::default();
    let taken = play::<IntervalStore>(data, |bench, answer| {
        let now = look(bench);
        follows(&before, &now, answer);
        before = now;
    });
    taken > 2
}

#[derive(Default)]
struct Seen {
    start_offset: i64,
    records: BTreeMap<i64, Record>,
}

fn look(bench: &Bench<IntervalStore>) -> Seen {
    let partition = &bench.partition;
    assert_eq!(partition.check(), Ok(()));
    let mut records = BTreeMap::new();
    let start_offset = partition.start_offset();
    let mut terminal = 0;
    for run in partition.in_flight() {
        let holder = run.holder.map(|(member, _, _)| member.to_owned());
        let held = run.state == RecordState::Acquired && run.phase == Phase::Stable;
        assert_eq!(held, holder.is_some(), "{run:?}");
        if let Some((_, since, deadline)) = run.holder {
            assert!(since <= deadline, "{run:?}");
        }
        for offset in run.range.first..=run.range.last {
            terminal += u64::from(run.state.is_terminal() && offset >= start_offset);
            let record = (run.state, run.phase, run.delivery_count, holder.clone());
            assert_eq!(records.insert(offset, record), None, "{offset} twice");
        }
    }
    assert_eq!(partition.delivery_complete_count(), terminal);
    assert!(partition.next_fetch_offset() >= start_offset);
    for write in &bench.written {
        assert!(write.delivery_complete_count >= 0);
        for batch in &write.state_batches {
            assert!(batch.first_offset <= batch.last_offset, "{batch:?}");
            assert!(matches!(batch.delivery_state, 0 | 2 | 3 | 4), "{batch:?}");
        }
        let pairs = write.state_batches.windows(2);
        assert!(
            pairs
                .into_iter()
                .all(|p| p[0].last_offset < p[1].first_offset)
        );
    }
    Seen {
        start_offset,
        records,
    }
}

fn follows(before: &Seen, now: &Seen, answer: &str) {
    assert!(now.start_offset >= before.start_offset, "{answer}");
    for (offset, (state, phase, count, _)) in &before.records {
        let is_over = state.is_terminal() && *phase == Phase::Stable;
        let Some((after, phase_after, count_after, _)) = now.records.get(offset) else {
            // Dropped where the start offset has passed it.
            assert!(*offset < now.start_offset, "{offset} is lost: {answer}");
            continue;
        };
        if is_over {
            assert_eq!((state, phase), (after, phase_after), "{offset}: {answer}");
        }
        // A delivery adds one; nothing takes one back but a record that is given back unread.
        assert!((count - 1..=count + 1).contains(count_after), "{offset}");
    }
}
