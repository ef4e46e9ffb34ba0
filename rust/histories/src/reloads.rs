//! Reloads: the last share session of a group ended, and the same leader read the state again.
//!
//! Kafka's `SharePartitionManager` drops the share partitions of a group when the last of its share sessions on the broker ends. The
//! release of its records is still being written then. The next fetch reads the state, which may overtake that write: the last
//! delivery of each record is counted again.

use crate::event::{Name, Nanos};
use crate::event_index::GroupEvents;
use crate::intervals::{Intervals, earliest_from_each};

/// Answer that brought records: the member, and when the request left and the answer came.
pub type Answer = (Name, Nanos, Nanos);

/// Times within which a reload may have read an earlier state.
///
/// `answers` are in the order in which they came: somebody has to fetch for a reload. A broker may end the session, and write the
/// release, up to `lingering` after the member went.
pub fn reloads(
    members: &GroupEvents,
    answers: &[Answer],
    skew: Nanos,
    lingering: Nanos,
) -> Intervals {
    let mut sent: Vec<Nanos> = answers.iter().map(|&(_, sent, _)| sent).collect();
    earliest_from_each(sent.iter_mut());
    let mut times = Vec::new();
    for (gone, member) in last_sessions(members, skew, lingering) {
        let (from, since) = (gone.saturating_sub(skew), gone.saturating_add(skew));
        let to = since.saturating_add(lingering);
        let after = answers.partition_point(|&(.., t)| t < gone);
        let near = answers.partition_point(|&(.., t)| t < from);
        // The clock of another member may be slow.
        let mut others = answers.get(near..after).unwrap_or(&[]).iter();
        if sent.get(after).is_some_and(|&sent| sent <= to) || others.any(|&(of, ..)| of != member) {
            times.push((from, to));
        }
    }
    times.into_iter().collect()
}

/// Times at which members went after which no member has a share session for certain, each with the member.
fn last_sessions(members: &GroupEvents, skew: Nanos, lingering: Nanos) -> Vec<(Nanos, Name)> {
    let mut changes: Vec<(Nanos, i32, Name)> = Vec::new();
    for (&member, came) in &members.came {
        let gone = members.gone_of.get(&member).map_or(&[][..], Vec::as_slice);
        for &(t, went) in came {
            // The end of an old connection ends the session that its member has begun on another one.
            let ended = went.checked_sub(1).and_then(|last| gone.get(last));
            let from = ended.map_or(t, |&gone| {
                t.max(gone.saturating_add(lingering).saturating_add(skew))
            });
            let from = from.saturating_add(skew);
            let to = gone.get(went).copied().unwrap_or(Nanos::MAX);
            if from < to {
                changes.extend([(from, 1, member), (to, -1, member)]);
            }
        }
    }
    changes.sort_unstable();
    let mut count = 0;
    let last = changes.into_iter().filter_map(|(t, change, member)| {
        count += change;
        (count == 0).then_some((t, member))
    });
    last.collect()
}
