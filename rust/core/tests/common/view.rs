//! Text for what a share partition shows, short enough to be read in a scenario.

use share_state_core::in_flight::{InFlightQuestions, InFlightRun, InFlightStore};
use share_state_core::offset::OffsetRange;
use share_state_core::persister::WriteState;
use share_state_core::record_state::{Phase, RecordState};
use share_state_core::share_partition::{AcquiredRange, DeadLetter, InFlight, SharePartition};

/// `5` or `5-9`.
pub fn range(range: OffsetRange) -> String {
    if range.first == range.last {
        range.first.to_string()
    } else {
        format!("{}-{}", range.first, range.last)
    }
}

/// `0-9:1 10-19:2`: offsets and delivery count; `nothing` when empty.
pub fn acquired(acquired: &[AcquiredRange]) -> String {
    let ranges: Vec<String> = acquired
        .iter()
        .map(|a| format!("{}:{}", range(a.range), a.delivery_count))
        .collect();
    if ranges.is_empty() {
        "nothing".to_owned()
    } else {
        ranges.join(" ")
    }
}

/// `start 0 complete 30 [0-29 acknowledged 1]`.
pub fn write(write: &WriteState) -> String {
    let mut text = format!(
        "start {} complete {}",
        write.start_offset, write.delivery_complete_count
    );
    for batch in &write.state_batches {
        let offsets = range(OffsetRange {
            first: batch.first_offset,
            last: batch.last_offset,
        });
        let state = RecordState::from_id(batch.delivery_state)
            .map_or_else(|| batch.delivery_state.to_string(), name);
        text += &format!(" [{offsets} {state} {}]", batch.delivery_count);
    }
    text
}

/// `5-9:1 ClientReject`.
pub fn dead_letter(letter: &DeadLetter) -> String {
    format!(
        "{}:{} {:?}",
        range(letter.range),
        letter.delivery_count,
        letter.cause
    )
}

fn name(state: RecordState) -> String {
    state.name().to_lowercase()
}

/// The window in one line: `~` marks a write under way, `~!` one whose answer no longer matters. Runs that are alike are joined
/// across the start offset, for the steps of a scenario are about records.
///
/// `start 0 end 29 next 10 length 30 complete 0 | 0-9 acquired 1 m1 | 10-19 available 1 | 20-29 acknowledged~ 1`
pub fn window<S: InFlightStore>(sp: &SharePartition<S>) -> String {
    let mut text = format!(
        "start {} end {} next {} length {} complete {}",
        sp.start_offset(),
        sp.end_offset(),
        sp.next_fetch_offset(),
        sp.window_len(),
        sp.delivery_complete_count()
    );
    let mut runs: Vec<InFlight<'_>> = Vec::new();
    for run in sp.in_flight() {
        match runs.last_mut() {
            Some(last)
                if run.range.first == sp.start_offset()
                    && last.range.is_followed_by(run.range.first)
                    && run
                        == InFlight {
                            range: run.range,
                            ..*last
                        } =>
            {
                last.range.last = run.range.last;
            }
            _ => runs.push(run),
        }
    }
    for run in runs {
        let mark = match run.phase {
            Phase::Stable => "",
            Phase::Pending => "~",
            Phase::PendingFinal => "~!",
        };
        text += &format!(
            " | {} {}{mark} {}",
            range(run.range),
            name(run.state),
            run.delivery_count
        );
        if let Some((member, ..)) = run.holder {
            text += &format!(" {member}");
        }
    }
    text
}

/// The runs as long as they can be: a store may forget where batches begin among records that are done, to which nothing can
/// happen any more.
pub fn joined(runs: impl Iterator<Item = InFlightRun>) -> Vec<InFlightRun> {
    let mut joined: Vec<InFlightRun> = Vec::new();
    for mut run in runs {
        run.batch_start &= !(run.state.is_terminal() && run.phase == Phase::Stable);
        match joined.last_mut() {
            Some(last)
                if last.range.is_followed_by(run.range.first)
                    && !run.batch_start
                    && run
                        == InFlightRun {
                            range: run.range,
                            batch_start: false,
                            ..*last
                        } =>
            {
                last.range.last = run.range.last;
            }
            _ => joined.push(run),
        }
    }
    joined
}

/// Everything a caller can ask, deadlines, counters and the store's own runs included: two of these are equal only when
/// nothing has changed between them.
pub fn everything<S: InFlightStore>(sp: &SharePartition<S>) -> String {
    let runs = joined(sp.store().runs());
    format!(
        "{} {:?} {:?} {:?} deadline {:?} writes {} counts {:?} can acquire {} counters {:?} runs {runs:?}",
        window(sp),
        sp.status(),
        sp.gap_window(),
        sp.config(),
        sp.poll_timeout(),
        sp.writes_under_way(),
        sp.state_counts(),
        sp.can_acquire(),
        sp.counters(),
    )
}
