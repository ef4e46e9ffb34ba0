//! Sequences on share sessions: Kafka's cache and contexts beside ours.

mod generate;
mod operation;
mod ours;
mod outcome;
mod seen;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::profile::{Class, Difference, Profile, Verdict};
use crate::random::Random;
use operation::SessionOperation;
use ours::Ours;
use outcome::SessionOutcome;
use seen::Seen;

const C1: Class = ("C1", "an answer that its session did not live to see");
const C2: Class = ("C2", "the end of a connection with several sessions");
const C3: Class = ("C3", "an opening request with a repeated partition");

/// The profile `session`.
pub struct OnSessions;

impl Profile for OnSessions {
    type Operation = SessionOperation;

    const NAME: &'static str = "session";
    const SUITE: &'static str = "share_session";

    fn rules() -> Vec<Class> {
        vec![C1, C2, C3]
    }

    fn generate(random: &mut Random, length: usize, renewals: &[usize]) -> Vec<SessionOperation> {
        generate::generate(random, length, renewals)
    }

    /// An answer speaks of partitions that its request fetches.
    fn mended(ops: Vec<SessionOperation>) -> Option<Vec<SessionOperation>> {
        let mut ours = Ours::default();
        let is_sound = ops.iter().all(|op| {
            ours.play(op);
            let SessionOperation::Answer { context, fetched } = op else {
                return true;
            };
            let Some((context, _)) = ours.contexts.get(context) else {
                return false;
            };
            let partitions: BTreeSet<_> = context.partitions().collect();
            fetched
                .iter()
                .all(|(tip, _, _)| partitions.contains(&ours::id(*tip)))
        });
        is_sound.then_some(ops)
    }

    fn smaller(op: &SessionOperation) -> Vec<SessionOperation> {
        op.smaller()
    }

    fn to_json(op: &SessionOperation) -> Value {
        op.to_json()
    }

    fn name_of(op: &SessionOperation) -> &'static str {
        op.name()
    }

    fn judge(ops: &[SessionOperation], given: &[Value]) -> Verdict {
        judge(ops, given)
    }
}

/// Compares operation by operation. After a difference that leads the sessions apart, the comparison goes on with the next cache.
fn judge(ops: &[SessionOperation], given: &[Value]) -> Verdict {
    let mut ours = Ours::default();
    let mut seen = Seen::default();
    let mut verdict = Verdict::default();
    let mut apart = false;
    for (at, (op, given)) in ops.iter().zip(given).enumerate() {
        if matches!(op, SessionOperation::Create { .. }) {
            apart = false;
        }
        let meetings = seen.before(op, &ours);
        let own = ours.play(op);
        let kept = seen.after(op, &own);
        if apart {
            verdict.apart.get_or_insert(at);
            continue;
        }
        verdict.compared += 1;
        let kafka = SessionOutcome::of_kafka(given);
        let points = [
            ("answer", &kafka.answer, &own.answer),
            ("sessions ended", &kafka.told, &own.told),
            ("sessions", &kafka.sessions, &own.sessions),
        ];
        let Some((what, theirs, mine)) = points.into_iter().find(|(_, a, b)| a != b) else {
            let reached = own.answer.split(" [").next().unwrap_or_default();
            verdict.reached.push(format!("{}: {reached}", op.name()));
            verdict
                .reached
                .extend(meetings.into_iter().map(str::to_owned));
            continue;
        };
        let class = classify(op, &kafka, &own, &ours, &kept);
        let difference = Difference::new(at, what, theirs.clone(), mine.clone(), class);
        if class.is_none() {
            verdict.difference = Some(difference);
            return verdict;
        }
        verdict.explained.push(difference);
        apart = kafka.sessions != own.sessions;
    }
    verdict
}

/// The deliberate difference, if it is one; `kept` is whose sessions Kafka overlooks when their connection ends.
fn classify(
    op: &SessionOperation,
    kafka: &SessionOutcome,
    own: &SessionOutcome,
    ours: &Ours,
    kept: &[String],
) -> Option<Class> {
    match op {
        SessionOperation::Disconnect { .. } if kafka.answer == own.answer && !kept.is_empty() => {
            let mut all: Vec<&str> = kafka.told.split_whitespace().collect();
            all.extend(kept.iter().map(String::as_str));
            all.sort_unstable();
            (all.join(" ") == own.told).then_some(C2)
        }
        SessionOperation::Answer { context, .. } => (kafka.answer.starts_with("0 ")
            && own.answer.starts_with("123 ")
            && kafka.sessions == own.sessions
            && ours.outlived(*context))
        .then_some(C1),
        SessionOperation::Fetch(fetch) => {
            let distinct: BTreeSet<_> = fetch.added.iter().collect();
            (fetch.epoch == 0
                && distinct.len() < fetch.added.len()
                && kafka.answer == "-1"
                && (own.answer.starts_with("0 full") || own.answer == "133"))
                .then_some(C3)
        }
        _ => None,
    }
}
