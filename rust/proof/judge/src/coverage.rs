//! Coverage of a sequence: each operation with its outcome, and the meetings of two things that random choices seldom bring
//! about.

use crate::operation::{Limits, Operation, Verb, When};
use crate::outcome::{Answered, Outcome, Run, State};

/// Parts of the coverage that the compared operations reached.
pub fn reached(ops: &[Operation], ours: &[Outcome], compared: &[usize]) -> Vec<String> {
    let mut all = Vec::new();
    let mut leaders: Vec<Seen> = Vec::new();
    let mut compared = compared.iter().peekable();
    for (at, (op, outcome)) in ops.iter().zip(ours).enumerate() {
        if let Verb::Create { limits, .. } = op.verb {
            let now = leaders.last().map_or(0, |seen| seen.now);
            leaders.push(Seen {
                now,
                limits: Some(limits),
                ..Seen::default()
            });
        }
        let latest = leaders.len().saturating_sub(1);
        let Some(seen) = leaders.get_mut(op.partition) else {
            continue;
        };
        seen.limits = op.limits.or(seen.limits);
        if compared.next_if_eq(&&at).is_some() {
            all.push(format!("{}: {}", op.verb.name(), told(outcome)));
            let earlier = op.partition != latest;
            let meetings = seen.meetings(op, outcome, earlier).into_iter();
            all.extend(meetings.map(str::to_owned));
        }
        if let Verb::Advance { ms } = op.verb {
            seen.now += ms;
        }
        if let Some(state) = &outcome.state {
            seen.state = state.clone();
        }
    }
    all
}

/// A leader's share partition before an operation.
#[derive(Default)]
struct Seen {
    state: State,
    now: i64,
    limits: Option<Limits>,
}

impl Seen {
    fn meetings(&self, op: &Operation, outcome: &Outcome, earlier: bool) -> Vec<&'static str> {
        let runs = &self.state.runs;
        let pending = || runs.iter().filter(|run| run.pending);
        let mut met = Vec::new();
        let mut note = |what: &'static str, is: bool| met.extend(is.then_some(what));
        match &op.verb {
            Verb::Advance { ms } => {
                let over = self.limits.is_some_and(|limits| *ms >= limits.lock_ms);
                note(
                    "meeting: a lock ends while its write is under way",
                    over && pending().next().is_some(),
                );
                let due = |run: &Run| run.deadline >= 0 && run.deadline <= self.now + ms;
                note(
                    "meeting: a lock of an earlier leader ends",
                    earlier && runs.iter().any(due),
                );
            }
            Verb::Acknowledge { ranges, member, .. } => {
                let last_moment = |run: &Run| {
                    run.member == *member
                        && run.deadline > self.now
                        && run.deadline <= self.now + 1
                        && ranges
                            .iter()
                            .any(|r| r.first <= run.last && r.last >= run.first)
                };
                let renews = ranges.iter().any(|r| r.types.contains(&4));
                note(
                    "meeting: a renewal in a lock's last millisecond",
                    renews && outcome.answered == Answered::Code(0) && runs.iter().any(last_moment),
                );
                note("meeting: an acknowledgement by nobody", *member == 0);
            }
            Verb::Acquire {
                member, fetched, ..
            } => {
                note("meeting: an acquire by nobody", *member == 0);
                let hole = self
                    .state
                    .gap
                    .is_some_and(|gap| fetched.first().is_some_and(|batch| batch.base > gap));
                note("meeting: a compacted log in the gap window", hole);
            }
            Verb::Release { member } => note("meeting: a release by nobody", *member == 0),
            Verb::LogStart { offset } => {
                note(
                    "meeting: the log start passes a write under way",
                    pending().any(|run| run.last < *offset),
                );
                note(
                    "meeting: the log start splits a write under way",
                    pending().any(|run| run.first < *offset && run.last >= *offset),
                );
                let archiving = |run: &&Run| run.state == 3 && run.first < *offset;
                note(
                    "meeting: the log start passes records in the dead-letter queue",
                    runs.iter().any(|run| archiving(&run)),
                );
            }
            Verb::Initialize { batches, code, .. } => {
                let holes = batches.windows(2).any(|pair| pair[1].0 > pair[0].1 + 1);
                note(
                    "meeting: a state with holes is read",
                    *code == 0 && outcome.answered == Answered::Code(0) && holes,
                );
            }
            Verb::LettersDone { .. } => {
                note(
                    "meeting: the dead-letter queue answers an earlier leader",
                    earlier,
                );
                note(
                    "meeting: the dead-letter queue answers below the start offset",
                    runs.iter()
                        .any(|run| run.state == 3 && run.first < self.state.start),
                );
            }
            Verb::Completes { .. } => {
                note("meeting: the persister answers an earlier leader", earlier);
            }
            _ => {}
        }
        let width = self.state.end - self.state.start + 1;
        let held = !runs.is_empty();
        note(
            "meeting: a window of over 1,000 offsets",
            held && width > 1_000,
        );
        note(
            "meeting: a window of over 5,000 offsets",
            held && width > 5_000,
        );
        let letters = !outcome.letters.is_empty();
        note(
            "meeting: the dead-letter queue is silent",
            letters && op.queue.when == When::Never,
        );
        note(
            "meeting: the dead-letter queue answers later",
            letters && matches!(op.queue.when, When::Later(_)),
        );
        met
    }
}

fn told(outcome: &Outcome) -> String {
    let answer = match &outcome.answered {
        Answered::Acquired(ranges) => format!("{} ranges", ranges.len().min(4)),
        Answered::Code(code) => format!("code {code}"),
        Answered::Pending => "pending".to_owned(),
        Answered::Offset(_) => "an offset".to_owned(),
        Answered::Flag(flag) => flag.to_string(),
        Answered::Nothing => "done".to_owned(),
    };
    let letters = if outcome.letters.is_empty() {
        ""
    } else {
        ", dead letters"
    };
    let writes = if outcome.writes.is_empty() {
        ""
    } else {
        ", written"
    };
    format!("{answer}{writes}{letters}")
}
