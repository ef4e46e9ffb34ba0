//! Searches find what looking at everything finds.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::each_record::each_record;
use crate::event::{AckType, Name, Nanos, Outcome, View};
use crate::event_index::EventIndex;
use crate::failovers::Failovers;
use crate::reading::Reader;
use crate::record_events::{AckCounts, Acked, Granted, RecordEvents};
use crate::reset_period::Reset;
use crate::reset_periods::ResetPeriods;
use crate::rising_offset::RisingOffset;
use crate::settings::Settings;
use crate::share_partition::SharePartition;

/// Times are so few that many are the same.
const STEP: Nanos = 1_000_000_000;

fn view(sent: Nanos, leader_epoch: Option<i64>, state_epoch: Option<i64>) -> View {
    View {
        sent,
        start_offset: None,
        leader_epoch,
        state_epoch,
    }
}

proptest! {
    #[test]
    fn what_passed_an_offset(offsets in vec(0_i64..8, 0..12)) {
        let rises: RisingOffset<usize> = offsets.iter().copied().zip(0..).collect();
        for offset in -1..9 {
            prop_assert_eq!(rises.passed(offset), offsets.iter().position(|&seen| seen > offset));
        }
        prop_assert_eq!(rises.first(), offsets.first().map(|&first| (first, 0)));
        prop_assert!(rises.offsets().is_sorted_by(|before, later| before < later));
    }

    #[test]
    fn when_leaders_changed(
        mut views in vec((0_i64..12, 0_i64..6, proptest::option::of(0_i64..4)), 0..10),
        skew in 0_i64..3,
        overlap in 0_i64..3,
    ) {
        views.sort_by_key(|&(t, ..)| t);
        let views: Vec<_> = views.into_iter().map(|(t, wait, epoch)| (t, view(t - wait, epoch, None))).collect();
        let failovers = Failovers::new(views.iter().map(|(t, view)| (*t, view)), skew, overlap);
        // Each epoch but the lowest: when an earlier one was asked for, and when it, or a later one, was seen.
        let shown = || views.iter().filter_map(|(t, view)| Some((view.leader_epoch?, view.sent, *t)));
        let epochs: BTreeSet<i64> = shown().map(|(epoch, ..)| epoch).collect();
        let mut all = Vec::new();
        for &epoch in epochs.iter().skip(1) {
            let of_it = shown().filter(|&(other, ..)| other == epoch).map(|(.., t)| t).min().unwrap_or(0);
            let seen = shown().filter(|&(other, ..)| other >= epoch).map(|(.., t)| t).min().unwrap_or(0);
            let asked = shown().filter(|&(other, ..)| other < epoch).map(|(_, sent, _)| sent).max().unwrap_or(0);
            all.push((asked.min(of_it) - skew, seen + skew + overlap));
        }
        for from in -10..16 {
            let since = all.iter().filter(|&&(_, over)| over >= from).map(|&(begun, _)| begun).min();
            prop_assert_eq!(failovers.since(from), since);
            for to in from..16 {
                let within = all.iter().any(|&(begun, over)| over >= from && begun <= to);
                prop_assert_eq!(failovers.within(from, to), within);
            }
        }
    }

    #[test]
    fn which_reset_comes_next(mut resets in vec((0_i64..10, 0_i64..6, 0_i64..4), 0..8)) {
        resets.sort_by_key(|&(t, ..)| t);
        let made = resets.iter().zip(0..).map(|(&(t, start_offset, state_epoch), event)| Reset {
            event,
            t,
            start_offset,
            state_epoch,
        });
        let periods = ResetPeriods::new(made, 0);
        for at in -1..11 {
            let next = resets.iter().map(|&(t, ..)| t).find(|&t| t >= at);
            prop_assert_eq!(periods.next_reset(at), next);
            // The period that a reset begins has its place, counted from 1.
            let last = resets.iter().rposition(|&(.., epoch)| epoch == at).map(|place| place + 1);
            if last.is_some() {
                prop_assert_eq!(periods.of_view(at, &view(at, None, Some(at))), last);
            }
        }
    }

    #[test]
    fn what_a_member_did(
        mut events in vec((0_i64..8, 0_i64..4, 0_i64..3, 1_i64..5, 0_usize..9), 0..14),
    ) {
        events.sort_by_key(|&(t, ..)| t);
        let mut reader = Reader::new();
        for &(t, wait, member, count, what) in &events {
            let (t, sent) = (t * STEP, (t - wait) * STEP);
            let place = r#""group":"g","topic":"t","partition":0"#;
            let rest = match what {
                0..3 => format!(r#""type":"grant","first":0,"last":0,"delivery_count":{count},"lock_ms":1000"#),
                3 => r#""type":"ack","ranges":[[0,0,1]],"outcome":"refused""#.to_owned(),
                4 => r#""type":"ack","ranges":[[0,0,2]],"outcome":"ok""#.to_owned(),
                5 => r#""type":"ack","ranges":[[0,0,1]],"outcome":"ok""#.to_owned(),
                6 => r#""type":"ack","ranges":[[0,0,4]],"outcome":"unknown""#.to_owned(),
                _ => r#""type":"ack","ranges":[[0,0,1]],"outcome":"unknown""#.to_owned(),
            };
            let line = format!(r#"{{"t":{t},"sent":{sent},"member":"m{member}",{place},{rest}}}"#);
            prop_assert_eq!(reader.line(line.as_bytes()), Ok(()));
        }
        let history = reader.finish();
        let (settings, index) = (Settings::default(), EventIndex::of(&history));
        for (&key, events) in &index.share_partitions {
            let partition = SharePartition::new(&history, &settings, &index, key, events);
            each_record(&partition, |record| {
                // Groups, topics and members are in one table of names.
                for name in 0..8 {
                    compare(&partition, record, name);
                }
            });
        }
    }
}

fn compare(partition: &SharePartition<'_>, record: &RecordEvents, member: Name) {
    let own: Vec<&Granted> = record
        .grants
        .iter()
        .filter(|grant| grant.member == member)
        .collect();
    let events = |grants: &[&Granted]| grants.iter().map(|grant| grant.event).collect::<Vec<_>>();
    assert_eq!(
        events(&record.grants_of(member).iter().collect::<Vec<_>>()),
        events(&own)
    );
    let acks = || record.acks.iter().filter(|ack| ack.member == member);
    for from in -8..12 {
        for to in from..12 {
            let (from, to) = (from * STEP, to * STEP);
            let taken = acks().filter(|ack| ack.t >= from && ack.sent <= to);
            let mut found: Vec<u32> = record
                .acks_taken(partition, member, from, to)
                .map(|ack| ack.event)
                .collect();
            found.sort_unstable();
            assert_eq!(found, taken.map(|ack| ack.event).collect::<Vec<_>>());
        }
        let by_then = from * STEP;
        let lingering = || acks().filter(|ack| ack.outcome == Outcome::Unknown && ack.t < by_then);
        let renewals = lingering().filter(|ack| ack.kind == AckType::Renew).count();
        let expected = AckCounts {
            renewals: renewals as i64,
            others: (lingering().count() - renewals) as i64,
        };
        assert_eq!(record.lingering(member, by_then), expected);
    }
    for ack in acks() {
        let had = own.iter().filter(|grant| grant.t <= ack.sent);
        let held = had.max_by_key(|grant| grant.count).copied();
        assert_eq!(
            record.acknowledged(ack).map(|grant| grant.event),
            held.map(|grant| grant.event)
        );
        let denied_by = held.and_then(|held| to_another(partition, record, ack, held));
        let is_unknown = ack.may_end() && ack.outcome == Outcome::Unknown;
        let expected = denied_by.filter(|_| is_unknown).map(|grant| grant.event);
        assert_eq!(record.denied_by(ack).map(|grant| grant.event), expected);
    }
}

fn to_another<'a>(
    partition: &SharePartition<'_>,
    record: &'a RecordEvents,
    ack: &Acked,
    held: &Granted,
) -> Option<&'a Granted> {
    let period = partition.periods.at(ack.sent);
    let is_later = |grant: &&Granted| grant.count > held.count && grant.period == Some(period);
    let mut later = record.grants.iter().filter(is_later);
    let first = later.clone().find(|grant| grant.t > held.sent);
    if later.any(|grant| grant.member == ack.member) {
        None
    } else {
        first
    }
}
