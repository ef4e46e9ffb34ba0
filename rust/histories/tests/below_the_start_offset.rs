//! Below the start offset an acknowledgement is confirmed and changes nothing, so its answer tells nothing of the record.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

use share_state_histories::{Check, Reader, Settings, check};

/// The checks that find something in these events, whose times are in ms.
fn checks(lines: &[&str]) -> Vec<Check> {
    let mut reader = Reader::new();
    for line in lines {
        let whole = line
            .replace("MS", "000000")
            .replace("AT", r#""group":"g","topic":"t","partition":0"#);
        reader.line(whole.as_bytes()).unwrap();
    }
    let report = check(&reader.finish(), &Settings::default());
    let mut checks: Vec<_> = report.violations.iter().map(|one| one.check).collect();
    checks.dedup();
    checks
}

const PRODUCED: &str = r#"{"type":"produce","t":1MS,"topic":"t","partition":0,"first":0,"last":9}"#;
const TO_A: &str = r#"{"type":"grant","t":110MS,"sent":100MS,AT,"member":"a","first":0,"last":9,"delivery_count":1,"lock_ms":300}"#;
const TO_B: &str = r#"{"type":"grant","t":610MS,"sent":600MS,AT,"member":"b","first":0,"last":9,"delivery_count":2,"lock_ms":300}"#;
const ENDED_BY_B: &str =
    r#"{"type":"ack","t":660MS,"sent":650MS,AT,"member":"b","ranges":[[0,9,1]],"outcome":"ok"}"#;

#[test]
fn a_late_accept_is_confirmed_after_another_member_has_ended_the_record() {
    let late = r#"{"type":"ack","t":700MS,"sent":390MS,AT,"member":"a","ranges":[[0,9,1]],"outcome":"ok"}"#;
    assert_eq!(checks(&[PRODUCED, TO_A, TO_B, ENDED_BY_B, late]), []);
    // Nobody else has ended it: it was held by b, and accepted by a.
    assert_eq!(checks(&[PRODUCED, TO_A, TO_B, late]), [Check::H1]);
    // Its answer came before b could have.
    let early = r#"{"type":"ack","t":590MS,"sent":390MS,AT,"member":"a","ranges":[[0,9,1]],"outcome":"ok"}"#;
    assert_eq!(
        checks(&[PRODUCED, TO_A, early, TO_B, ENDED_BY_B]),
        [Check::H1]
    );
}

#[test]
fn a_late_renewal_is_confirmed_after_another_member_has_ended_the_record() {
    let renewed = r#"{"type":"ack","t":710MS,"sent":700MS,AT,"member":"a","ranges":[[0,9,4]],"outcome":"ok"}"#;
    assert_eq!(checks(&[PRODUCED, TO_A, TO_B, ENDED_BY_B, renewed]), []);
    // With the record still there, the renewal shows that a has held it all the time.
    assert_eq!(
        checks(&[PRODUCED, TO_A, TO_B, renewed]),
        [Check::H2, Check::H7]
    );
}
