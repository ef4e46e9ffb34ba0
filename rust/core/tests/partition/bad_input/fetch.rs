//! Fetches that are malformed, or as large as the log (25 to 27).

use share_state_core::in_flight::{InFlightStore, IntervalStore};
use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_partition::{
    AbortedTransaction, AcquireError, AcquireMode, ControlType, FetchedBatch,
};

use super::support::{ACCEPT, acquire_refused, window};
use crate::common::lab::{Fetch, Lab};
use crate::common::view::everything;
use crate::on_both_stores;

fn d3_25_to_27_a_malformed_fetch_is_refused<S: InFlightStore>() {
    const MAX: i64 = i64::MAX;
    let mut lab = window::<S>();
    let good = Fetch::of(&[(35, 39), (40, 49)]);
    for batch_size in [0, -1, i32::MIN] {
        let fetch = Fetch {
            batch_size,
            ..good.clone()
        };
        assert_eq!(
            acquire_refused(&mut lab, &fetch),
            AcquireError::BatchSize { batch_size }
        );
    }
    for fetch_offset in [-1, i64::MIN] {
        let fetch = Fetch {
            fetch_offset,
            ..good.clone()
        };
        assert_eq!(
            acquire_refused(&mut lab, &fetch),
            AcquireError::FetchOffset { fetch_offset }
        );
    }
    let logs: [(&[(i64, i64)], usize); 6] = [
        (&[(45, 40)], 0),
        (&[(40, 49), (45, 50)], 1),
        (&[(40, 49), (49, 50)], 1),
        (&[(50, 59), (40, 49)], 1),
        (&[(-1, 49)], 0),
        (&[(40, 49), (50, MAX)], 1),
    ];
    for (log, bad) in logs {
        let fetch = Fetch {
            fetch_offset: 40,
            ..Fetch::of(log)
        };
        let (base_offset, last_offset) = log[bad];
        let expected = AcquireError::FetchedBatch {
            index: bad,
            base_offset,
            last_offset,
        };
        assert_eq!(acquire_refused(&mut lab, &fetch), expected);
    }
    // Not wrong, but nothing to give.
    let before = everything(&lab.sp);
    for max_records in [0, -1, i32::MIN] {
        let fetch = Fetch {
            max_records,
            ..good.clone()
        };
        assert_eq!(lab.acquire("m3", &fetch), Ok(Vec::new()));
    }
    for mode in [AcquireMode::BatchOptimized, AcquireMode::RecordLimit] {
        let none = Fetch {
            mode,
            log: Vec::new(),
            ..good.clone()
        };
        assert_eq!(lab.acquire("m3", &none), Ok(Vec::new()));
    }
    assert_eq!(everything(&lab.sp), before);
    // The fetch offset may lie after what was read: nothing was compacted away then.
    let behind = Fetch {
        fetch_offset: MAX,
        ..good
    };
    let acquired = lab.acquire("m3", &behind).unwrap();
    assert_eq!(
        acquired.iter().map(|a| a.range.first).collect::<Vec<_>>(),
        [35, 40]
    );
}

fn d3_26_what_lies_below_the_start_offset_is_not_given<S: InFlightStore>() {
    let mut lab: Lab<S> = Lab::new();
    lab.move_log_start(5);
    assert_eq!(lab.acquire("m1", &Fetch::of(&[(0, 4)])), Ok(Vec::new()));
    let acquired = lab.acquire("m1", &Fetch::of(&[(0, 9)])).unwrap();
    assert_eq!(acquired[0].range.first, 5);
}

/// Over both stores: a list of aborted transactions that cannot be that of what was read.
fn a_list_of_aborted_transactions_that_contradicts_itself<S: InFlightStore>() {
    let batch = |base_offset, last_offset, control| FetchedBatch {
        base_offset,
        last_offset,
        producer_id: 7,
        is_transactional: true,
        control,
    };
    let log = vec![
        batch(40, 44, None),
        batch(45, 45, Some(ControlType::Abort)),
        batch(46, 49, None),
    ];
    for (list, wrong) in [
        (vec![(-1, 40)], 0),
        (vec![(7, 40), (7, -1)], 1),
        (vec![(7, 40), (7, 40)], 1),
        (vec![(7, 41), (8, 3), (7, 2)], 0),
        (vec![(7, 46), (7, 46)], 1),
    ] {
        let mut lab: Lab<S> = window();
        let aborted = list
            .iter()
            .map(|(producer_id, first_offset)| AbortedTransaction {
                producer_id: *producer_id,
                first_offset: *first_offset,
            });
        let fetch = Fetch {
            log: log.clone(),
            aborted: Some(aborted.collect()),
            ..Fetch::of(&[(40, 49)])
        };
        let (producer_id, first_offset) = list[wrong];
        let expected = AcquireError::Aborted {
            index: wrong,
            producer_id,
            first_offset,
        };
        assert_eq!(acquire_refused(&mut lab, &fetch), expected);
    }
    // With the marker between, and for transactions after what was read, it is none.
    let mut lab: Lab<S> = window();
    let aborted =
        [(7, 2), (7, 46), (7, 90), (7, 80)].map(|(producer_id, first_offset)| AbortedTransaction {
            producer_id,
            first_offset,
        });
    let fetch = Fetch {
        log,
        aborted: Some(aborted.to_vec()),
        ..Fetch::of(&[(40, 49)])
    };
    let given = lab.acquire("m3", &fetch).unwrap();
    assert_eq!(
        given.iter().map(|one| one.range.first).collect::<Vec<_>>(),
        [45]
    );
}

/// Over both stores: the window bounds what is taken of an answer of any length.
fn d3_26_a_million_fetched_batches_fill_the_window_and_no_more<S: InFlightStore>() {
    let log: Vec<(i64, i64)> = (0..1_000_000).map(|i| (2 * i, 2 * i)).collect();
    let mut lab: Lab<S> = Lab::new();
    lab.configure(|config| config.partition_max_record_locks = 200);
    for mode in [AcquireMode::BatchOptimized, AcquireMode::RecordLimit] {
        let fetch = Fetch {
            mode,
            batch_size: 1,
            max_records: i32::MAX,
            ..Fetch::of(&log)
        };
        lab.acquire("m1", &fetch).unwrap();
        assert!(lab.sp.window_len() <= 201, "{}", lab.sp.window_len());
    }
    let mut bad = log;
    bad.push((0, 0));
    let error = acquire_refused(&mut lab, &Fetch::of(&bad));
    let expected = AcquireError::FetchedBatch {
        index: 1_000_000,
        base_offset: 0,
        last_offset: 0,
    };
    assert_eq!(error, expected);
}

/// Over the tree alone: the twin has one entry an offset.
#[test]
fn d3_26_a_batch_of_a_trillion_offsets_is_one_run() {
    let mut lab: Lab<IntervalStore> = Lab::new();
    let last = (1 << 40) - 1;
    let acquired = lab.acquire("m1", &Fetch::of(&[(0, last)])).unwrap();
    assert_eq!(acquired[0].range.len(), 1 << 40);
    let middle = 1 << 39;
    let batches: &[(i64, i64, &[i8])] = &[(0, 0, ACCEPT), (middle, last, &[2])];
    let token = lab.acknowledge("m1", batches).unwrap().unwrap();
    lab.answer(token, KafkaCode::None).unwrap();
    assert!(lab.move_log_start(middle + 7));
    assert_eq!(lab.time(30_000), (1 << 39) - 1);
    assert_eq!(lab.sp.next_fetch_offset(), middle + 7);
    assert!(
        lab.sp.store().heap_bytes() < 64 * 1024,
        "{}",
        lab.sp.store().heap_bytes()
    );
}

on_both_stores!(
    d3_25_to_27_a_malformed_fetch_is_refused,
    a_list_of_aborted_transactions_that_contradicts_itself,
    d3_26_what_lies_below_the_start_offset_is_not_given,
    d3_26_a_million_fetched_batches_fill_the_window_and_no_more,
);
