//! The rules that look at what becomes of single offsets: loops, and what went back.

use share_state_core::history::{At, Cause, Delivery, HistoryRow, Standing};
use share_state_core::interval_tree::Run;
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::RecordState;

use crate::anomaly::context::Context;
use crate::anomaly::row::{Anomaly, Found};
use crate::anomaly::suspicion::{GivenUp, Suspicion, What, push};
use crate::anomaly::window::{Known, Window};
use crate::anomaly::{AnomalyKind, Mark, Severity};

/// Takes intervals; it keeps nothing but its allocation, so one serves all share partitions.
#[derive(Clone, Debug, Default)]
pub(in crate::anomaly) struct Intervals {
    taken: Vec<Run<Known>>,
}

impl Intervals {
    /// Takes a row of an interval.
    pub fn take(
        &mut self,
        on: Context<'_>,
        window: &mut Window,
        row: &HistoryRow,
        range: OffsetRange,
        suspicions: &mut Vec<Suspicion>,
        out: &mut Vec<Anomaly>,
    ) {
        let until = Some(row.at.timestamp);
        match row.cause {
            Cause::WentBack | Cause::Forgotten => on.tell(state_went_back(row, range), out),
            Cause::StartOffsetWentBack => {
                on.tell(
                    start_offset_went_back(row.standing, row.at, Some(range)),
                    out,
                );
            }
            _ => {}
        }
        self.taken.clear();
        window.take(range, &mut self.taken);
        if let (Some(delivery), true) = (row.to, self.taken.is_empty()) {
            let known = new(delivery, row.at);
            given_up(on, row, range, known.longest_ms, suspicions);
            window.put(range, known);
            return;
        }
        for run in &self.taken {
            let next = row.to.map(|to| next(on, row, run.value, to));
            let goes_on = next.is_some_and(|next| next.loops > run.value.loops);
            let is_last = next.is_none_or(|next| !is_available(next.delivery));
            let looped = next.filter(|_| goes_on).unwrap_or(run.value);
            if looped.loops >= on.config.loop_releases && (is_last || !goes_on) {
                let is_lost = next.is_some_and(|next| is_archived(next.delivery));
                suspicions.push(loop_of(run.range, looped, until, is_lost));
            }
            if let Some(mut known) = next {
                given_up(on, row, run.range, known.longest_ms, suspicions);
                if is_last {
                    known.loops = 0;
                    known.loop_since = Mark::default();
                }
                window.put(run.range, known);
            }
        }
    }

    /// Tells of the loops that are there at the end of a life or of the log.
    pub fn end(
        on: Context<'_>,
        window: &Window,
        until: Option<i64>,
        suspicions: &mut Vec<Suspicion>,
    ) {
        for run in window.runs() {
            if run.value.loops >= on.config.loop_releases {
                suspicions.push(loop_of(run.range, run.value, until, false));
            }
        }
    }
}

fn is_available(delivery: Delivery) -> bool {
    delivery.state == RecordState::Available.id()
}

/// Tells if nobody is given it any more, and nobody has accepted it.
fn is_archived(delivery: Delivery) -> bool {
    matches!(
        RecordState::from_id(delivery.state),
        Some(RecordState::Archiving | RecordState::Archived)
    )
}

const fn new(delivery: Delivery, at: At) -> Known {
    Known {
        delivery,
        first_told: Mark::of(at),
        changed_ms: at.timestamp,
        longest_ms: if delivery.count <= 1 { Some(0) } else { None },
        loops: 0,
        loop_since: Mark { offset: 0, ms: 0 },
    }
}

/// Returns the new facts of a run that a row holds.
fn next(on: Context<'_>, row: &HistoryRow, known: Known, delivery: Delivery) -> Known {
    let lock_ms = on.config.loop_lock_ms(&on.key.group);
    let since = row.at.timestamp.saturating_sub(known.changed_ms);
    let ends = matches!(
        row.cause,
        Cause::Released | Cause::Archiving | Cause::Archived
    );
    // The last of them is archived: its delivery was the limit.
    let again = ends && is_available(known.delivery) && delivery.count > known.delivery.count;
    let in_time = lock_ms <= since && since <= lock_ms.saturating_mul(2);
    let (loops, loop_since) = match known.loops {
        _ if !(again && in_time) => (0, Mark::default()),
        0 => (1, Mark::of(row.at)),
        loops => (loops.saturating_add(1), known.loop_since),
    };
    let is_new = delivery.count > known.delivery.count;
    let longest_ms = match known.longest_ms {
        // A delivery between is not in the log, or a clock went back.
        Some(_)
            if is_new
                && (since < 0
                    || i32::from(delivery.count) > i32::from(known.delivery.count) + 1) =>
        {
            None
        }
        Some(longest) if is_new => Some(longest.max(since)),
        longest => longest,
    };
    Known {
        delivery,
        changed_ms: row.at.timestamp,
        longest_ms,
        loops,
        loop_since,
        ..known
    }
}

const fn loop_of(range: OffsetRange, known: Known, until: Option<i64>, is_lost: bool) -> Suspicion {
    Suspicion {
        range,
        since: known.loop_since,
        until,
        what: What::Loop {
            times: known.loops,
            count: known.delivery.count,
            is_lost,
        },
    }
}

/// Notes records that a row archives, if the limit may be as low as their count.
fn given_up(
    on: Context<'_>,
    row: &HistoryRow,
    range: OffsetRange,
    longest_ms: Option<i64>,
    suspicions: &mut Vec<Suspicion>,
) {
    let given_up = GivenUp::by(row, longest_ms, on.config);
    let limit = || on.limits.of(on.config, &on.key.group);
    if let Some(given_up) = given_up.filter(|it| i64::from(it.count) >= limit()) {
        let suspicion = Suspicion {
            range,
            since: Mark::of(row.at),
            until: Some(row.at.timestamp),
            what: What::GivenUp(given_up),
        };
        push(suspicions, suspicion);
    }
}

fn state_went_back(row: &HistoryRow, range: OffsetRange) -> Found {
    let told = |known: Option<Delivery>| match known {
        None => "unknown".to_owned(),
        Some(Delivery { state, count }) => match RecordState::from_id(state) {
            Some(state) => format!("{}×{count}", state.name().to_lowercase()),
            None => format!("state-{state}×{count}"),
        },
    };
    let evidence = format!(
        "a snapshot takes {} back to {}",
        told(row.from),
        told(row.to)
    );
    at_once(AnomalyKind::StateWentBack, row.at, Some(range), evidence)
}

/// The start offset went back over `range`, or to where it is not known any more.
pub(super) fn start_offset_went_back(
    standing: Standing,
    at: At,
    range: Option<OffsetRange>,
) -> Found {
    let evidence = format!(
        "the start offset goes back to {} at state epoch {}",
        standing.start_offset, standing.state_epoch
    );
    at_once(AnomalyKind::StartOffsetWentBack, at, range, evidence)
}

/// Something that was over when it began.
fn at_once(kind: AnomalyKind, at: At, range: Option<OffsetRange>, evidence: String) -> Found {
    Found {
        kind,
        severity: Severity::Critical,
        range,
        since: Mark::of(at),
        until: Some(at.timestamp),
        evidence,
        advice: kind.advice(),
    }
}
