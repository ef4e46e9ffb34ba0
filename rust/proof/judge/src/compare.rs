//! Kafka's outcome beside ours: in which points they differ.

use crate::outcome::{Answered, Letter, Outcome, Run, State, Write, push};

/// A point in which Kafka and share_state differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Name of the point that differs.
    pub what: &'static str,
    /// Kafka's side.
    pub kafka: String,
    /// Ours.
    pub ours: String,
}

fn point(what: &'static str, kafka: impl core::fmt::Debug, ours: impl core::fmt::Debug) -> Point {
    Point {
        what,
        kafka: format!("{kafka:?}"),
        ours: format!("{ours:?}"),
    }
}

/// Both states around one operation.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Kafka's state before.
    pub kafka_before: State,
    /// Our state before.
    pub ours_before: State,
    /// Kafka's state afterwards.
    pub kafka: State,
    /// Our state afterwards.
    pub ours: State,
}

/// Every point in which the outcomes differ.
#[must_use]
pub fn compare(kafka: &Outcome, ours: &Outcome, around: &Around) -> Vec<Point> {
    let mut points = Vec::new();
    // Kafka's timers say whether any fired; the state shows the same.
    let told = !(ours.answered == Answered::Nothing && matches!(kafka.answered, Answered::Flag(_)));
    if told && kafka.answered != ours.answered {
        points.push(Point {
            what: "answer",
            kafka: format!(
                "{:?} {}",
                kafka.answered,
                kafka.exception.as_deref().unwrap_or("")
            ),
            ours: format!("{:?}", ours.answered),
        });
    }
    if around.kafka.start < around.kafka_before.start && around.kafka.status == "ACTIVE" {
        // Sound or not, what follows rests on it.
        points.push(point("start offset", around.kafka.start, around.ours.start));
    }
    compare_states(&around.kafka, &around.ours, &mut points);
    compare_writes(&kafka.writes, &ours.writes, &mut points);
    let (theirs, own) = (joined(&kafka.letters), joined(&ours.letters));
    if theirs != own {
        points.push(point("dead letters", theirs, own));
    }
    points
}

/// Compares effectively: every offset in the same state, with the same count, holder and deadline, and a start offset that is
/// sound. Kafka moves its start offset lazily, so another one is taken when nothing outstanding lies between the two; from the
/// higher one on everything must be equal.
fn compare_states(kafka: &State, ours: &State, points: &mut Vec<Point>) {
    if kafka.status != ours.status {
        points.push(point("status", &kafka.status, &ours.status));
        return;
    }
    if kafka.status != "ACTIVE" {
        return;
    }
    if kafka.epoch != ours.epoch {
        points.push(point("state epoch", kafka.epoch, ours.epoch));
    }
    let start = kafka.start.max(ours.start);
    let low = kafka.start.min(ours.start);
    if low != start {
        let fetched = kafka
            .gap
            .is_none_or(|gap| gap >= start || all_cached(&kafka.runs, gap.max(low), start));
        if !(all_done(&kafka.runs, low, start) && all_done(&ours.runs, low, start) && fetched) {
            points.push(point("start offset", kafka.start, ours.start));
        }
    }
    let (theirs, own) = (
        from_start(&kafka.runs, start),
        from_start(&ours.runs, start),
    );
    if theirs != own {
        let same = theirs.iter().zip(&own).take_while(|(a, b)| a == b).count();
        let shown = |runs: &[Run]| {
            runs.iter()
                .skip(same)
                .take(4)
                .map(show)
                .collect::<Vec<_>>()
                .join(", ")
        };
        points.push(Point {
            what: "in-flight state",
            kafka: shown(&theirs),
            ours: shown(&own),
        });
    }
    let below = |state: &State| terminal(&state.runs, state.start) - terminal(&state.runs, start);
    let (theirs_complete, own_complete) = (
        kafka.delivery_complete - below(kafka),
        ours.delivery_complete - below(ours),
    );
    if theirs_complete != own_complete {
        points.push(point(
            "delivery complete count",
            theirs_complete,
            own_complete,
        ));
    }
    if kafka.end != ours.end && !(low != start && theirs.is_empty()) {
        points.push(point("end offset", kafka.end, ours.end));
    }
}

/// A run for reading.
#[must_use]
pub fn show(run: &Run) -> String {
    let state = [
        "AVAILABLE",
        "ACQUIRED",
        "ACKNOWLEDGED",
        "ARCHIVING",
        "ARCHIVED",
    ]
    .get(usize::from(run.state))
    .unwrap_or(&"?");
    let mark = if run.pending { "~" } else { "" };
    let mut text = format!(
        "{}-{} {state}{mark}({})",
        run.first, run.last, run.delivery_count
    );
    if run.member != 0 {
        text += &format!(" m{}", run.member);
    }
    if run.deadline >= 0 {
        text += &format!(" until {}", run.deadline);
    }
    text
}

fn all_done(runs: &[Run], first: i64, end: i64) -> bool {
    runs.iter()
        .all(|run| run.done() || run.last < first || run.first >= end)
}

fn all_cached(runs: &[Run], first: i64, end: i64) -> bool {
    let mut at = first;
    for run in runs {
        if run.first > at {
            break;
        }
        at = at.max(run.last + 1);
    }
    at >= end
}

fn terminal(runs: &[Run], from: i64) -> i64 {
    runs.iter()
        .filter(|run| run.terminal() && run.last >= from)
        .map(|run| run.last - run.first.max(from) + 1)
        .sum()
}

/// Runs without what is terminal below `start`: Kafka drops whole batches only, and nothing can happen to such records any
/// more.
#[must_use]
pub fn from_start(runs: &[Run], start: i64) -> Vec<Run> {
    let mut kept = Vec::with_capacity(runs.len());
    for run in runs {
        if !run.terminal() || run.first >= start {
            push(&mut kept, run.clone());
        } else if run.last >= start {
            push(
                &mut kept,
                Run {
                    first: start,
                    ..run.clone()
                },
            );
        }
    }
    kept
}

fn compare_writes(kafka: &[Write], ours: &[Write], points: &mut Vec<Point>) {
    let start = kafka
        .iter()
        .chain(ours)
        .map(|write| write.start)
        .max()
        .unwrap_or(-1);
    let (theirs, own) = (folded(kafka, start), folded(ours, start));
    if theirs != own {
        points.push(point("written", &theirs, &own));
    }
    if let ([theirs], [own]) = (kafka, ours)
        && theirs.start == own.start
        && theirs.delivery_complete != own.delivery_complete
    {
        points.push(point(
            "delivery complete count written",
            theirs.delivery_complete,
            own.delivery_complete,
        ));
    }
}

/// Fold of the payloads: for each offset from `start` on the greatest (count, state). Written on its own, offset by offset, so
/// that a fault of the core's fold cannot hide itself.
fn folded(writes: &[Write], start: i64) -> Vec<crate::operation::Batch> {
    let mut borders: Vec<i64> = Vec::new();
    let batches = || {
        writes
            .iter()
            .flat_map(|write| &write.batches)
            .filter(|b| b.1 >= start)
    };
    for b in batches() {
        borders.extend([b.0.max(start), b.1 + 1]);
    }
    borders.sort_unstable();
    borders.dedup();
    let mut best: Vec<Option<(i16, i8)>> = vec![None; borders.len()];
    for b in batches() {
        let low = borders.partition_point(|border| *border < b.0.max(start));
        let high = borders.partition_point(|border| *border < b.1 + 1);
        for slot in &mut best[low..high] {
            *slot = (*slot).max(Some((b.3, b.2)));
        }
    }
    let mut merged: Vec<crate::operation::Batch> = Vec::new();
    for (index, value) in best.iter().enumerate() {
        let Some((count, state)) = *value else {
            continue;
        };
        let (first, last) = (borders[index], borders[index + 1] - 1);
        match merged.last_mut() {
            Some(m) if m.1 + 1 == first && (m.2, m.3) == (state, count) => m.1 = last,
            _ => merged.push((first, last, state, count)),
        }
    }
    merged
}

fn joined(letters: &[Letter]) -> Vec<Letter> {
    let mut sorted = letters.to_vec();
    sorted.sort_unstable();
    let mut joined: Vec<Letter> = Vec::new();
    for letter in sorted {
        match joined.last_mut() {
            Some(last) if last.1 + 1 == letter.0 && (last.2, last.3) == (letter.2, letter.3) => {
                last.1 = letter.1
            }
            _ => joined.push(letter),
        }
    }
    joined
}
