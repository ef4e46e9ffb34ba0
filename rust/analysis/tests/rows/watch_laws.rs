//! The laws of a watch: of its window it says what a finder says that keeps everything, and its memory is that of the window.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::made_up::{Logged, key, log};
use proptest::prelude::*;
use share_state_analysis::anomaly::{
    Anomaly, AnomalyConfig, AnomalyKind, Beside, Finder, MOST_KEPT, Watch,
};
use share_state_core::history::{At, History, HistoryRow};
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::state_batch::StateBatch;

/// Thresholds that made-up logs reach.
fn eager() -> AnomalyConfig {
    AnomalyConfig {
        stuck_ms: 5,
        stuck_records: 2,
        delivery_count_limit: Some(1),
        burst_records: 3,
        burst_ms: 8,
        record_lock_duration_ms: Some(3),
        loop_releases: 1,
        count_records: 1,
        gap_ms: 4,
        cold_ms: 9,
        cold_records: 4,
        ..AnomalyConfig::default()
    }
}

fn watch(config: AnomalyConfig) -> Watch {
    Watch::new(Arc::new(config))
}

/// The rows of each record of one state partition.
fn rows(log: &[Logged]) -> Vec<Vec<HistoryRow>> {
    let mut history = History::new();
    let of_one = log.iter().filter(|logged| logged.partition == 0);
    of_one
        .map(|logged| {
            let mut rows = Vec::new();
            history.apply(logged.at, &logged.record, &mut rows);
            rows
        })
        .collect()
}

/// In an order of their own.
fn sorted(mut found: Vec<Anomaly>) -> Vec<Anomaly> {
    let place = |one: &Anomaly| format!("{one:?}");
    found.sort_by_key(place);
    found
}

fn since(watch: &Watch, ms: i64) -> Vec<Anomaly> {
    let mut found = Vec::new();
    assert_eq!(watch.since(ms, &mut found), ms);
    sorted(found)
}

proptest! {
    #[test]
    fn of_its_window_it_says_what_one_says_that_forgot_nothing(
        log in log(),
        // After which records, what is let go, and how far a question goes beyond that.
        forgets in prop::collection::vec((0..40usize, 90..220i64), 0..9),
        later in 0..4i64,
    ) {
        let (mut forgetful, mut whole) = (watch(eager()), watch(eager()));
        let mut from = 90;
        for (n, rows) in rows(&log).iter().enumerate() {
            for (_, ms) in forgets.iter().filter(|(at, _)| *at == n) {
                from = from.max(*ms);
                forgetful.forget_before(*ms);
            }
            forgetful.record(0, rows);
            whole.record(0, rows);
            prop_assert_eq!(since(&forgetful, from + later), since(&whole, from + later));
            prop_assert!(forgetful.kept() <= whole.kept());
        }
    }

    #[test]
    fn from_the_beginning_on_it_says_what_a_finder_says(log in log()) {
        let (mut watch, mut finder) = (watch(eager()), Finder::new(eager(), Beside::default()));
        let mut found = Vec::new();
        for rows in rows(&log) {
            watch.record(0, &rows);
            finder.record(0, &rows, &mut found);
        }
        finder.end(&mut found);
        prop_assert_eq!(since(&watch, i64::MIN), sorted(found));
    }
}

fn batch(first: i64, last: i64, state: i8, count: i16) -> StateBatch {
    StateBatch {
        first_offset: first,
        last_offset: last,
        delivery_state: state,
        delivery_count: count,
    }
}

/// A share partition of which every record is given up at the limit, one a second, and which goes on.
struct Busy {
    history: History,
    offset: i64,
    ms: i64,
}

impl Busy {
    fn new() -> Self {
        Self {
            history: History::new(),
            offset: 0,
            ms: 0,
        }
    }

    fn write(&mut self, value: ShareValue, watch: &mut Watch) {
        let mut rows = Vec::new();
        let at = At {
            offset: self.offset,
            timestamp: self.ms,
        };
        let record = ShareRecord { key: key(0), value };
        self.history.apply(at, &record, &mut rows);
        watch.record(0, &rows);
        self.offset += 1;
    }

    fn initialise(&mut self, watch: &mut Watch) {
        let snapshot = ShareSnapshot {
            snapshot_epoch: 0,
            state_epoch: 0,
            leader_epoch: 0,
            start_offset: 0,
            delivery_complete_count: 0,
            create_timestamp: 0,
            write_timestamp: 0,
            state_batches: Vec::new(),
            unknown_tagged_fields: Vec::new(),
        };
        self.write(ShareValue::Snapshot(snapshot), watch);
    }

    /// Record `n` is released once and archived with the second delivery; the next write passes it.
    fn give_up(&mut self, n: i64, watch: &mut Watch) {
        for (state, count) in [(0, 1), (4, 2)] {
            self.ms += 500;
            let update = ShareUpdate {
                snapshot_epoch: 0,
                leader_epoch: -1,
                start_offset: n,
                delivery_complete_count: 0,
                state_batches: vec![batch(n, n, state, count)],
                unknown_tagged_fields: Vec::new(),
            };
            self.write(ShareValue::Update(update), watch);
        }
    }
}

fn limits(limit: i64) -> AnomalyConfig {
    AnomalyConfig {
        delivery_count_limit: Some(limit),
        record_lock_duration_ms: Some(30_000),
        cold_records: i64::MAX,
        ..AnomalyConfig::default()
    }
}

#[test]
fn memory_is_that_of_the_window_however_long_the_log_is() {
    let (mut busy, mut asked) = (Busy::new(), watch(limits(2)));
    let (mut other, mut unasked) = (Busy::new(), watch(limits(2)));
    busy.initialise(&mut asked);
    other.initialise(&mut unasked);
    let mut most_unasked = 0;
    for n in 0..20_000 {
        busy.give_up(n, &mut asked);
        // One record is given up a second: 100 within the window.
        asked.forget_before(busy.ms - 100_000);
        assert!(asked.kept() <= 101, "after {n}: {}", asked.kept());
        other.give_up(n, &mut unasked);
        if n % 997 == 0 {
            most_unasked = most_unasked.max(unasked.kept());
        }
    }
    let mut kinds = BTreeMap::new();
    for one in since(&asked, busy.ms - 100_000) {
        *kinds.entry(one.kind.name()).or_insert(0) += 1;
    }
    assert_eq!(
        kinds,
        BTreeMap::from([(AnomalyKind::PoisonRecord.name(), 101)])
    );
    // Nobody asked: those of some thousand rows are kept beside the most, and no more.
    assert!(most_unasked > MOST_KEPT, "{most_unasked}");
    assert!(most_unasked < MOST_KEPT + 20_000, "{most_unasked}");
    let mut found = Vec::new();
    let from = unasked.since(i64::MIN, &mut found);
    assert!(from > other.ms - 12_000_000, "{from}");
    assert!(found.len() >= MOST_KEPT, "{}", found.len());
}

#[test]
fn thresholds_may_change_on_the_way() {
    let mut busy = Busy::new();
    let mut watch = watch(limits(5));
    busy.initialise(&mut watch);
    busy.give_up(0, &mut watch);
    assert_eq!(since(&watch, 0), []);
    watch.configure(Arc::new(limits(2)));
    busy.give_up(1, &mut watch);
    let found = since(&watch, 0);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].range.map(|range| range.first), Some(1));
    watch.begin_again();
    assert_eq!(since(&watch, 0), []);
    let mut again = Busy::new();
    again.initialise(&mut watch);
    again.give_up(0, &mut watch);
    assert_eq!(since(&watch, 0).len(), 1);
}
