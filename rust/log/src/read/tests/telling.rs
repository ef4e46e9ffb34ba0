//! History of records: what became of them.

use share_state_core::history::{Cause, HistoryRow};

use super::folding::{log_of, snapshot, tombstone, update};
use super::*;

fn tell(disk: &SimDisk, filter: HistoryFilter) -> (Vec<LoggedRow>, Vec<Finding>) {
    let scan = Scan::on(Arc::new(disk.clone()), Path::new("/broker")).unwrap();
    let mut history = HistoryScan::on(scan, filter);
    let rows = history.by_ref().map(Result::unwrap).collect();
    assert_eq!(
        history.progress().bytes_done,
        history.progress().bytes_total
    );
    (rows, history.findings())
}

fn causes(rows: &[LoggedRow]) -> Vec<(u32, i32, i64, Cause)> {
    rows.iter()
        .map(|LoggedRow { partition, row }| {
            let HistoryRow { key, at, cause, .. } = row;
            (*partition, key.partition, at.offset, *cause)
        })
        .collect()
}

#[test]
fn rows_come_in_the_order_of_the_log_for_the_share_partitions_that_are_asked_for() {
    let records = [
        snapshot(0, 0),
        update(1, 3),
        update(0, 0),
        tombstone(1),
        snapshot(1, 0),
    ];
    let disk = broker(&[(0, log_of(&records))]);
    let (rows, findings) = tell(&disk, HistoryFilter::default());
    assert_eq!(findings, []);
    let all = [
        (7, 0, 0, Cause::Initialised),
        (7, 1, 1, Cause::Found),
        (7, 0, 2, Cause::Counted),
        (7, 1, 3, Cause::Deleted),
        (7, 1, 4, Cause::Initialised),
    ];
    assert_eq!(causes(&rows), all);

    let key = key(1);
    let only = |partition, group: &str| HistoryFilter {
        group: Some(group.to_owned()),
        topic_id: Some(key.topic_id),
        partition: Some(partition),
        offset: Some(12),
    };
    let (rows, _) = tell(&disk, only(1, &key.group));
    assert_eq!(causes(&rows), [all[1], all[3], all[4]]);
    assert_eq!(tell(&disk, only(2, &key.group)).0, []);
    assert_eq!(tell(&disk, only(1, "nobody")).0, []);
}

#[test]
fn an_offset_is_followed_through_the_intervals_that_hold_it() {
    let mut busy = update(0, 0);
    let ShareValue::Update(value) = &mut busy.value else {
        panic!("{busy:?}")
    };
    value.state_batches = [(10, 14), (16, 20)]
        .map(|(first_offset, last_offset)| StateBatch {
            first_offset,
            last_offset,
            delivery_state: 2,
            delivery_count: 1,
        })
        .to_vec();
    let disk = broker(&[(0, log_of(&[snapshot(0, 0), busy]))]);
    let told = |offset| {
        let filter = HistoryFilter {
            offset: Some(offset),
            ..HistoryFilter::default()
        };
        causes(&tell(&disk, filter).0)
    };
    let first = (7, 0, 0, Cause::Initialised);
    let accepted = (7, 0, 1, Cause::Accepted);
    assert_eq!(told(9), [first]);
    assert_eq!(told(10), [first, accepted]);
    assert_eq!(told(15), [first]);
    assert_eq!(told(20), [first, accepted]);
}

#[test]
fn records_that_cannot_be_read_are_findings_of_a_history() {
    let mut log = log_of(&[snapshot(0, 0)]);
    let cut_off = NewRecord {
        timestamp: 1,
        key: Some(&[0]),
        value: None,
    };
    log.extend(encode_batch(1, 0, Compression::None, &[cut_off]).unwrap());
    log.extend(batch(2, 1)); // of an unknown type, which is passed over
    let disk = broker(&[(0, log)]);
    let scan = Scan::on(Arc::new(disk.clone()), Path::new("/broker")).unwrap();
    let mut history = HistoryScan::on(scan, HistoryFilter::default());
    let mut records = 0;
    while let Some(rows) = history.next_record().unwrap() {
        records += 1;
        assert!(rows.count() <= 1);
    }
    assert_eq!(records, 3);
    assert_eq!(
        history.findings(),
        fold_on(&disk, Path::new("/broker")).findings
    );
    assert_eq!(history.findings().len(), 1);
}
