//! Replays an operation log on an engine: once for its results, then against the clock.

use std::time::{Duration, Instant};

use share_state_core::in_flight::InFlightStore;
use share_state_core::share_partition::{AcknowledgeBatch, FetchedBatch};

use crate::digest::{Digest, Ignored, Results};
use crate::durable::Durable;
use crate::engine::{Engine, Fetch};
use crate::oplog::{Op, OpKind, OpLog};
use crate::persister::{Counting, GATHERED, Persister};

/// The ids of acknowledge types, so that a slice of one can be lent (0 gap, 1 accept, 2 release, 3 reject, 4 renew).
const TYPES: [i8; 5] = [0, 1, 2, 3, 4];

/// Operations between two looks at the clock of the whole replay.
const LOOK_EVERY: usize = 64;

/// Times that the clock showed.
#[derive(Debug, Default)]
pub struct Spent {
    /// In all timed sections together.
    pub total: Duration,
    /// For each timed operation its least time in nanoseconds so far, in the order of the log.
    pub least: Vec<u32>,
    /// The operation at which the time was up.
    pub stopped: Option<usize>,
}

/// The results of a replay.
#[derive(Debug)]
pub struct Outcome {
    /// Digest of all results.
    pub digest: Digest,
    /// Persisted states, and their amount.
    pub durable: Durable,
    /// The operation at which the time was up.
    pub stopped: Option<usize>,
}

/// Replays for the results; gives up after `limit`.
#[must_use]
pub fn check<S: InFlightStore>(log: &OpLog, limit: Duration) -> Outcome {
    let mut engine = Engine::<S>::open(&log.header);
    let mut durable = Durable::of(log.header.partitions);
    let mut digest = Digest::default();
    let mut spent = Spent::default();
    play::<S, _, _, false>(
        log,
        &mut engine,
        &mut durable,
        &mut digest,
        &mut spent,
        limit,
    );
    Outcome {
        digest,
        durable,
        stopped: spent.stopped,
    }
}

/// Replays against the clock, as a whole, or with `EACH` operation by operation, of which `spent` keeps the least times.
pub fn time<S: InFlightStore, const EACH: bool>(log: &OpLog, limit: Duration, spent: &mut Spent) {
    let mut engine = Engine::<S>::open(&log.header);
    if log.ops.iter().any(|op| op.kind == OpKind::Reopen) {
        let mut durable = Durable::of(log.header.partitions);
        play::<S, _, _, EACH>(log, &mut engine, &mut durable, &mut Ignored, spent, limit);
    } else {
        let mut counting = Counting::default();
        play::<S, _, _, EACH>(log, &mut engine, &mut counting, &mut Ignored, spent, limit);
    }
}

/// Replays against the clock as [`time`] does, with this persister.
pub fn time_on<S: InFlightStore>(log: &OpLog, persister: &mut impl Persister, spent: &mut Spent) {
    let mut engine = Engine::<S>::open(&log.header);
    play::<S, _, _, false>(
        log,
        &mut engine,
        persister,
        &mut Ignored,
        spent,
        Duration::MAX,
    );
}

/// Returns the speed-up of a log with two threads, one for share partition 0 and one for the others: the time of both parts
/// one after the other, divided by that of the longer when they run together.
#[must_use]
pub fn two_threads<S: InFlightStore>(log: &OpLog) -> f64 {
    let parts = [true, false].map(|hot| OpLog {
        header: log.header.clone(),
        ops: log
            .ops
            .iter()
            .filter(|op| {
                matches!(op.kind, OpKind::Begin | OpKind::End) || hot == (op.partition == 0)
            })
            .copied()
            .collect(),
        blob: log.blob.clone(),
    });
    let total = |part| {
        let mut spent = Spent::default();
        time::<S, false>(part, Duration::MAX, &mut spent);
        spent.total.as_secs_f64()
    };
    let alone: f64 = parts.iter().map(total).sum();
    let together = std::thread::scope(|scope| {
        let threads = parts
            .each_ref()
            .map(|part| scope.spawn(move || total(part)));
        threads
            .map(|thread| thread.join().expect("a replay that did not panic"))
            .into_iter()
            .fold(0.0, f64::max)
    });
    alone / together
}

/// Replays without a clock up to the first operation that is timed, and leaves the engine as it is then.
#[must_use]
pub fn set_up<S: InFlightStore>(log: &OpLog) -> Engine<S> {
    let mut engine = Engine::<S>::open(&log.header);
    let begin = log.ops.iter().position(|op| op.kind == OpKind::Begin);
    let before = OpLog {
        header: log.header.clone(),
        ops: log.ops[..begin.unwrap_or(log.ops.len())].to_vec(),
        blob: log.blob.clone(),
    };
    let (mut counting, mut spent) = (Counting::default(), Spent::default());
    let limit = Duration::MAX;
    play::<S, _, _, false>(
        &before,
        &mut engine,
        &mut counting,
        &mut Ignored,
        &mut spent,
        limit,
    );
    engine
}

fn play<S: InFlightStore, P: Persister, R: Results, const EACH: bool>(
    log: &OpLog,
    engine: &mut Engine<S>,
    persister: &mut P,
    results: &mut R,
    spent: &mut Spent,
    limit: Duration,
) {
    let started = Instant::now();
    let mut section = started;
    let mut timed = false;
    let mut cursor = 0;
    let mut pending = Pending::default();
    for (index, op) in log.ops.iter().enumerate() {
        if index % LOOK_EVERY == 0 && started.elapsed() > limit {
            spent.stopped = Some(index);
            break;
        }
        if persister.gathered() > 0 && (!op.kind.is_request() || persister.gathered() >= GATHERED) {
            let writes = persister.gathered() as i64;
            persister.commit();
            engine.complete(writes);
        }
        match op.kind {
            OpKind::Begin => {
                timed = true;
                section = Instant::now();
            }
            OpKind::End => {
                spent.total += section.elapsed();
                timed = false;
            }
            OpKind::Fetched => pending.fetched.push(FetchedBatch::plain(op.first, op.last)),
            OpKind::Range => pending.ranges.push(range(op, &TYPES)),
            _ if EACH && timed => {
                let began = Instant::now();
                step(log, op, engine, persister, results, &mut pending);
                let took = u32::try_from(began.elapsed().as_nanos()).unwrap_or(u32::MAX);
                match spent.least.get_mut(cursor) {
                    Some(least) => *least = took.min(*least),
                    None => spent.least.push(took),
                }
                cursor += 1;
            }
            _ => step(log, op, engine, persister, results, &mut pending),
        }
    }
}

/// The kinds of the operations whose times [`Spent::least`] holds, in its order.
pub fn timed_kinds(log: &OpLog) -> impl Iterator<Item = OpKind> + '_ {
    let mut timed = false;
    log.ops.iter().filter_map(move |op| {
        match op.kind {
            OpKind::Begin => timed = true,
            OpKind::End => timed = false,
            OpKind::Fetched | OpKind::Range => {}
            kind => return timed.then_some(kind),
        }
        None
    })
}

/// Parts that belong to the next request.
#[derive(Debug, Default)]
struct Pending<'a> {
    fetched: Vec<FetchedBatch>,
    ranges: Vec<AcknowledgeBatch<'a>>,
}

fn range<'a>(op: &Op, types: &'a [i8; 5]) -> AcknowledgeBatch<'a> {
    let id = usize::from(op.arg);
    AcknowledgeBatch {
        first: op.first,
        last: op.last,
        types: types.get(id..=id).unwrap_or(&[]),
    }
}

#[inline]
fn step<'a, S: InFlightStore, P: Persister, R: Results>(
    log: &'a OpLog,
    op: &Op,
    engine: &mut Engine<S>,
    persister: &mut P,
    results: &mut R,
    pending: &mut Pending<'a>,
) {
    let partition = op.partition;
    match op.kind {
        OpKind::Acknowledge => {
            pending.ranges.push(range(op, &TYPES));
            let code = engine.acknowledge(partition, op.member, &pending.ranges, persister);
            pending.ranges.clear();
            results.end(code);
        }
        OpKind::Acquire => {
            pending.fetched.push(FetchedBatch::plain(op.first, op.last));
            let fetch = Fetch {
                partition,
                member: op.member,
                fetched: &pending.fetched,
                max_records: op.value as i32,
                batch_size: (op.value >> 32) as i32,
            };
            let code = engine.acquire(&fetch, |grant| results.grant(grant));
            pending.fetched.clear();
            engine.settle(partition, persister);
            results.end(code);
        }
        OpKind::AcknowledgeEach => {
            let from = op.value as usize;
            let len = usize::try_from(op.last - op.first + 1).unwrap_or(0);
            let types = log.types(from, len);
            pending.ranges.push(AcknowledgeBatch {
                first: op.first,
                last: op.last,
                types,
            });
            let code = engine.acknowledge(partition, op.member, &pending.ranges, persister);
            pending.ranges.clear();
            results.end(code);
        }
        OpKind::NextFetchOffset => results.offset(engine.next_fetch_offset(partition)),
        OpKind::Release => {
            engine.release(partition, op.member, persister);
            results.end(0);
        }
        OpKind::Tick => {
            engine.tick(partition, op.value);
            engine.settle(partition, persister);
        }
        OpKind::LogStart => {
            engine.log_start(partition, op.first);
            engine.settle(partition, persister);
        }
        OpKind::Check => {
            let window = engine.window(partition);
            let durable = persister.read(partition, window.start).state_batches;
            results.state(window, &durable);
        }
        OpKind::Reopen => {
            let start = engine.window(partition).start;
            engine.reopen(partition, persister.read(partition, start));
        }
        OpKind::Begin
        | OpKind::End
        | OpKind::Fetched
        | OpKind::Range
        | OpKind::Fold
        | OpKind::Snapshot
        | OpKind::Encode => {}
    }
}
