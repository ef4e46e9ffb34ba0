//! Which round a thread waits for.

use super::group::Records;
use super::*;
use share_state_core::time::WallTime;

/// A machine of records that hold nothing.
#[derive(Debug)]
struct Nothing;

impl Machine for Nothing {
    type Record = ();

    fn encode((): &()) -> Result<(Vec<u8>, Option<Vec<u8>>), WireError> {
        Ok((Vec::new(), None))
    }

    fn replay(&mut self, _: i64, (): &()) {}
}

fn group(base_offset: i64, next_offset: i64) -> Group {
    let records = vec![(); usize::try_from(next_offset - base_offset).unwrap()];
    let records = Records::encode_all::<Nothing>(&records, WallTime(0)).unwrap();
    Group::new(base_offset, records)
}

/// A thread may look for its round while its own group is being written and the next group has formed.
#[test]
fn a_thread_waits_for_the_round_that_writes_its_records() {
    let shared = Shared {
        machine: Nothing,
        groups: [group(8, 9), group(9, 12)].into(),
        next_offset: 12,
        appended: 5,
        synced: 5,
        led: true,
        round: 7,
        closed: false,
        rewriting: None,
    };
    for (ticket, round) in [
        (0, 7),
        (5, 7),
        (6, 7),
        (8, 7),
        (9, 8),
        (10, 9),
        (11, 9),
        (12, 9),
    ] {
        assert_eq!(shared.round_of(ticket), round, "ticket {ticket}");
    }
}
