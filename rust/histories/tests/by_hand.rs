//! Histories made by hand: those that break a promise, and their neighbours that do not.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

use share_state_histories::{Check, Reader, Settings, check};

const PRODUCED: &str =
    r#"{"type":"produce","t":1000,"topic":"t","partition":0,"first":0,"last":9}"#;

/// A line, with times in ms.
fn line(t: i64, kind: &str, rest: &str) -> String {
    let t = t * 1_000_000;
    let place = match kind {
        "produce" | "retained" => r#""topic":"t","partition":0"#,
        "gone" | "drained" => r#""group":"g""#,
        _ => r#""group":"g","topic":"t","partition":0"#,
    };
    let comma = if rest.is_empty() { "" } else { "," };
    format!(r#"{{"type":"{kind}","t":{t},{place}{comma}{rest}}}"#)
}

fn grant(sent: i64, t: i64, member: &str, span: (i64, i64), count: i64, lock_ms: i64) -> String {
    let (sent, (first, last)) = (sent * 1_000_000, span);
    let rest = format!(
        r#""sent":{sent},"member":"{member}","first":{first},"last":{last},"delivery_count":{count},"lock_ms":{lock_ms}"#
    );
    line(t, "grant", &rest)
}

fn ack(sent: i64, t: i64, member: &str, ranges: &str, outcome: &str) -> String {
    let sent = sent * 1_000_000;
    let rest =
        format!(r#""sent":{sent},"member":"{member}","ranges":{ranges},"outcome":"{outcome}""#);
    line(t, "ack", &rest)
}

fn view(sent: i64, t: i64, rest: &str) -> String {
    line(t, "view", &format!(r#""sent":{},{rest}"#, sent * 1_000_000))
}

fn drained(t: i64) -> String {
    line(t, "drained", "")
}

/// The checks that find something, each once, and their excerpts by position.
fn found(lines: &[String]) -> Vec<(Check, Vec<u32>)> {
    let mut reader = Reader::new();
    reader.line(PRODUCED.as_bytes()).unwrap();
    for line in lines {
        reader
            .line(line.as_bytes())
            .unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    let report = check(&reader.finish(), &Settings::default());
    let mut found: Vec<_> = report
        .violations
        .into_iter()
        .map(|violation| (violation.check, violation.excerpt))
        .collect();
    found.sort();
    found
}

fn checks(lines: &[String]) -> Vec<Check> {
    let mut checks: Vec<Check> = found(lines).into_iter().map(|(check, _)| check).collect();
    checks.dedup();
    checks
}

#[test]
fn h1_what_was_accepted_is_not_delivered_again() {
    let first = grant(100, 110, "a", (0, 9), 1, 30_000);
    let accepted = ack(200, 210, "a", "[[0,9,1]]", "ok");
    let again = grant(300, 310, "b", (3, 3), 2, 30_000);
    let broken = [first.clone(), accepted.clone(), again.clone()];
    assert_eq!(found(&broken), [(Check::H1, vec![2, 3])]);
    let refused = ack(200, 210, "a", "[[0,9,1]]", "refused");
    assert!(!checks(&[first.clone(), refused, again.clone()]).contains(&Check::H1));
    let unknown = ack(200, 210, "a", "[[0,9,1]]", "unknown");
    assert!(!checks(&[first.clone(), unknown, again]).contains(&Check::H1));
    // A request that was on its way already: the counts tell that the delivery came later.
    let on_its_way = grant(150, 310, "b", (3, 3), 2, 30_000);
    let broken = [first.clone(), accepted.clone(), on_its_way];
    assert_eq!(found(&broken), [(Check::H1, vec![1, 2, 3])]);
    // It was delivered before, and its answer came late.
    let late = grant(10, 15_000, "b", (3, 3), 1, 5000);
    let sound = [
        grant(6000, 6010, "a", (3, 3), 2, 5000),
        ack(6100, 6110, "a", "[[3,3,1]]", "ok"),
        late,
    ];
    assert_eq!(checks(&sound), []);
}

#[test]
fn h2_and_h7_a_lock_holds_until_its_deadline() {
    let first = grant(100, 110, "a", (0, 9), 1, 30_000);
    let both = grant(10_000, 10_010, "b", (0, 9), 2, 30_000);
    let expected = [(Check::H2, vec![1, 2]), (Check::H7, vec![1, 2])];
    assert_eq!(found(&[first.clone(), both.clone()]), expected);
    let same = grant(10_000, 10_010, "a", (0, 9), 2, 30_000);
    assert_eq!(found(&[first.clone(), same]), [(Check::H7, vec![1, 2])]);
    let after = grant(30_200, 30_210, "b", (0, 9), 2, 30_000);
    assert_eq!(checks(&[first.clone(), after.clone()]), []);
    // Whoever released it, or went, holds it no longer.
    let released = ack(9000, 9010, "a", "[[0,9,2]]", "ok");
    assert_eq!(checks(&[first.clone(), released, both.clone()]), []);
    let gone = line(9000, "gone", r#""member":"a""#);
    assert_eq!(checks(&[first.clone(), gone, both]), []);
    // A renewal lets it hold anew.
    let renewed = ack(20_000, 20_010, "a", "[[0,9,4]]", "ok");
    let expected = [(Check::H2, vec![1, 3]), (Check::H7, vec![1, 3])];
    assert_eq!(found(&[first, renewed, after]), expected);
}

#[test]
fn h3_a_drain_leaves_nothing() {
    let first = grant(100, 110, "a", (0, 8), 1, 30_000);
    let accepted = ack(200, 210, "a", "[[0,8,1]]", "ok");
    let sound = [first.clone(), accepted.clone()];
    let end = |lines: &[String]| [lines, &[drained(90_000)]].concat();
    assert_eq!(
        found(&end(&sound)),
        [(Check::H3, vec![0, 3]), (Check::H8, vec![0])]
    );
    let rest = grant(300, 310, "a", (9, 9), 1, 30_000);
    let released = ack(400, 410, "a", "[[9,9,2]]", "ok");
    let lost = [&sound[..], &[rest.clone(), released]].concat();
    let report = found(&[&lost[..], &[drained(1000)]].concat());
    assert_eq!(report, [(Check::H3, vec![3, 4, 5])]);
    let whole = [&sound[..], &[rest, ack(400, 410, "a", "[[9,9,3]]", "ok")]].concat();
    assert_eq!(checks(&end(&whole)), []);
    // What the log does not keep any more need not be delivered.
    let retained = line(500, "retained", r#""from":10"#);
    assert_eq!(checks(&end(&[&sound[..], &[retained]].concat())), []);
    // Nor what lies before a reset.
    let reset = line(500, "reset", r#""start_offset":10,"state_epoch":2"#);
    assert_eq!(checks(&end(&[&sound[..], &[reset]].concat())), []);
}

#[test]
fn h4_counts_rise_by_one_up_to_the_limit() {
    let deliveries = |counts: &[i64]| -> Vec<String> {
        let each = counts.iter().enumerate().flat_map(|(at, &count)| {
            let t = 1000 * (at as i64 + 1);
            [
                grant(t, t + 10, "a", (0, 9), count, 30_000),
                ack(t + 20, t + 30, "a", "[[0,9,2]]", "ok"),
            ]
        });
        each.collect()
    };
    assert_eq!(checks(&deliveries(&[1, 2, 3, 4, 5])), []);
    for counts in [
        &[1, 3][..],
        &[1, 1],
        &[1, 2, 1],
        &[2],
        &[0],
        &[1, 2, 3, 4, 5, 6],
    ] {
        assert_eq!(checks(&deliveries(counts)), [Check::H4], "{counts:?}");
    }
    // Who crashed may have been given it.
    let mut lines = deliveries(&[1]);
    lines.push(line(1500, "gone", r#""member":"b""#));
    lines.push(grant(5000, 5010, "a", (0, 9), 3, 30_000));
    assert_eq!(checks(&lines), []);
}

#[test]
fn h5_nothing_goes_back_and_nothing_unsettled_is_passed() {
    for (first, then) in [
        (r#""start_offset":5"#, r#""start_offset":4"#),
        (r#""leader_epoch":5"#, r#""leader_epoch":4"#),
        (r#""state_epoch":5"#, r#""state_epoch":4"#),
    ] {
        let broken = [view(100, 110, first), view(200, 210, then)];
        assert_eq!(found(&broken), [(Check::H5, vec![1, 2])], "{first}");
        let crossed = [view(100, 110, first), view(50, 210, then)];
        assert_eq!(checks(&crossed), [], "{first}");
        let forward = [view(100, 110, then), view(200, 210, first)];
        let passes = first.contains("start_offset");
        assert_eq!(checks(&forward).is_empty(), !passes, "{first}");
    }
    let first = grant(100, 110, "a", (0, 9), 1, 30_000);
    let half = ack(200, 210, "a", "[[0,4,1]]", "ok");
    let passed = view(300, 310, r#""start_offset":10"#);
    let broken = [first.clone(), half.clone(), passed.clone()];
    assert_eq!(found(&broken), [(Check::H5, vec![1, 3])]);
    let rest = ack(220, 230, "a", "[[5,9,3]]", "unknown");
    assert_eq!(checks(&[first, half, rest, passed]), []);
}

#[test]
fn h6_an_unknown_acknowledgement_happened_or_did_not() {
    let first = grant(100, 110, "a", (0, 9), 1, 5000);
    let unknown = ack(200, 1200, "a", "[[0,9,1]]", "unknown");
    let some = grant(6000, 6010, "b", (5, 9), 2, 5000);
    let settled = ack(6020, 6030, "b", "[[5,9,1]]", "ok");
    let start = view(6100, 6110, r#""start_offset":5"#);
    let broken = [first.clone(), unknown.clone(), some, settled, start];
    assert_eq!(found(&broken), [(Check::H6, vec![2, 3, 5])]);
    let all = grant(6000, 6010, "b", (0, 9), 2, 5000);
    let settled = ack(6020, 6030, "b", "[[0,9,1]]", "ok");
    let start = view(6100, 6110, r#""start_offset":10"#);
    assert_eq!(
        checks(&[first.clone(), unknown.clone(), all, settled, start.clone()]),
        []
    );
    assert_eq!(checks(&[first.clone(), unknown.clone(), start.clone()]), []);
    // The start offset passed it, so nobody is given it again, not even the same member.
    let again = grant(6500, 6510, "a", (0, 9), 2, 5000);
    let broken = [first.clone(), unknown.clone(), start, again];
    assert_eq!(found(&broken), [(Check::H6, vec![2, 3, 4])]);
    // It was delivered to another member, so it did not happen, and explains nothing.
    let other = grant(6000, 6010, "b", (0, 9), 2, 5000);
    let released = ack(6020, 6030, "b", "[[0,9,2]]", "ok");
    let lines = [first, unknown, other, released, drained(9000)];
    assert_eq!(found(&lines), [(Check::H3, vec![3, 4, 5])]);
}

#[test]
fn h8_what_is_available_is_delivered() {
    let first = grant(100, 110, "a", (0, 4), 1, 30_000);
    let accepted = ack(200, 210, "a", "[[0,4,1]]", "ok");
    let late = grant(70_000, 70_010, "a", (5, 9), 1, 30_000);
    let broken = [first.clone(), accepted.clone(), late.clone()];
    assert_eq!(found(&broken), [(Check::H8, vec![0, 3])]);
    // Nobody was there to be given it.
    let gone = line(300, "gone", r#""member":"a""#);
    let back = grant(69_000, 70_010, "a", (5, 9), 1, 30_000);
    assert_eq!(checks(&[first.clone(), accepted, gone, back]), []);
    // Something was locked all the while.
    let renewals = (1..7).map(|at| ack(at * 10_000, at * 10_000 + 5, "a", "[[0,4,4]]", "ok"));
    let locked: Vec<String> = [first].into_iter().chain(renewals).chain([late]).collect();
    assert_eq!(checks(&locked), []);
}

#[test]
fn a_line_that_is_none_of_a_history_is_named_with_its_field() {
    let cases = [
        ("not JSON", None),
        ("[1]", None),
        (r#"{"t":1}"#, Some("type")),
        (r#"{"type":"poll","t":1}"#, Some("type")),
        (r#"{"type":7,"t":1}"#, Some("type")),
        (r#"{"type":"drained"}"#, Some("t")),
        (r#"{"type":"drained","t":"now"}"#, Some("t")),
        (r#"{"type":"drained","t":1.5}"#, Some("t")),
        (r#"{"type":"drained","t":99999999999999999999}"#, Some("t")),
        (
            r#"{"type":"produce","t":1,"topic":"t","partition":0,"first":3,"last":2}"#,
            Some("last"),
        ),
        (
            r#"{"type":"produce","t":1,"topic":"t","partition":0,"first":-3,"last":2}"#,
            Some("first"),
        ),
        (
            r#"{"type":"produce","t":1,"topic":"t","partition":-1,"first":0,"last":2}"#,
            Some("partition"),
        ),
        (
            r#"{"type":"produce","t":1,"topic":"t","partition":4294967296,"first":0,"last":2}"#,
            Some("partition"),
        ),
        (
            r#"{"type":"produce","t":1,"partition":0,"first":0,"last":2}"#,
            Some("topic"),
        ),
        (r#"{"type":"gone","t":1,"group":"g"}"#, Some("member")),
        (r#"{"type":"gone","t":1,"member":"a"}"#, Some("group")),
        (
            r#"{"type":"retained","t":1,"topic":"t","partition":0}"#,
            Some("from"),
        ),
        (
            r#"{"type":"reset","t":1,"group":"g","topic":"t","partition":0,"state_epoch":0}"#,
            Some("start_offset"),
        ),
        (
            r#"{"type":"grant","t":1,"sent":2,"group":"g","topic":"t","partition":0,"member":"a","first":0,"last":0,"delivery_count":1,"lock_ms":1}"#,
            Some("sent"),
        ),
        (
            r#"{"type":"grant","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","first":0,"last":0,"delivery_count":1,"lock_ms":-1}"#,
            Some("lock_ms"),
        ),
        (
            r#"{"type":"grant","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","first":0,"last":0,"lock_ms":1}"#,
            Some("delivery_count"),
        ),
        (
            r#"{"type":"ack","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","ranges":[[0,1,5]],"outcome":"ok"}"#,
            Some("ranges"),
        ),
        (
            r#"{"type":"ack","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","ranges":[[1,0,1]],"outcome":"ok"}"#,
            Some("ranges"),
        ),
        (
            r#"{"type":"ack","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","ranges":[[1,0]],"outcome":"ok"}"#,
            Some("ranges"),
        ),
        (
            r#"{"type":"ack","t":2,"sent":1,"group":"g","topic":"t","partition":0,"member":"a","ranges":[],"outcome":"maybe"}"#,
            Some("outcome"),
        ),
    ];
    for (text, field) in cases {
        let mut reader = Reader::new();
        reader.line(br#"{"type":"drained","t":1}"#).unwrap();
        reader.line(b"").unwrap();
        let error = reader.line(text.as_bytes()).unwrap_err();
        assert_eq!((error.line, error.field), (3, field), "{text}: {error}");
    }
    let mut reader = Reader::new();
    reader.line(br#"{"type":"drained","t":5}"#).unwrap();
    assert_eq!(
        reader
            .line(br#"{"type":"drained","t":4}"#)
            .unwrap_err()
            .field,
        Some("t")
    );
}
