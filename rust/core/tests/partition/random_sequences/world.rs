//! A share partition over both stores in lock-step, with its log, its members and its persister.

use std::collections::{BTreeMap, BTreeSet};

use share_state_core::in_flight::{IntervalStore, TwinStore};
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::WriteState;
use share_state_core::record_state::Phase;
use share_state_core::share_partition::{AbortedTransaction, AcquireMode, FetchedBatch};

use super::op::{MEMBERS, Op, Setting};
use super::persister::Persister;
use super::seen::{Seen, check_write, look};
use crate::common::lab::{Fetch, Lab};
use crate::common::view::everything;

/// See the module.
#[derive(Clone)]
pub struct World {
    pub twin: Lab<TwinStore>,
    pub tree: Lab<IntervalStore>,
    pub persister: Persister,
    pub log: Vec<FetchedBatch>,
    pub log_start: i64,
    pub leader_epoch: i32,
    pub max_limit: i16,
    /// Writes that have been on their way to the coordinator.
    pub sent: Vec<WriteState>,
    /// Offsets that this leader has seen done.
    pub done: BTreeSet<i64>,
    /// Offset at which the state epoch began.
    pub began_at: i64,
    /// Number of effects of each kind.
    pub effects: BTreeMap<&'static str, u32>,
}

impl World {
    pub fn new(log: Vec<FetchedBatch>, config: ShareGroupConfig) -> Self {
        let mut world = Self {
            twin: Lab::empty(config),
            tree: Lab::empty(config),
            persister: Persister::new(0),
            log,
            log_start: 0,
            leader_epoch: 0,
            max_limit: config.delivery_count_limit,
            sent: Vec::new(),
            done: BTreeSet::new(),
            began_at: 0,
            effects: BTreeMap::new(),
        };
        world.lead();
        world
    }

    pub fn seen(&self) -> Seen {
        look(&self.twin)
    }

    pub fn now(&self) -> i64 {
        self.twin.now
    }

    pub fn tokens(&self) -> Vec<u64> {
        self.twin.writes.keys().copied().collect()
    }

    pub fn dead_letters(&self) -> usize {
        self.twin.dead_letters.len()
    }

    pub fn note(&mut self, effect: &'static str) {
        *self.effects.entry(effect).or_insert(0) += 1;
    }

    /// Log batches read from an offset on, as a broker reads them: whole.
    pub fn read_log(&self, offset: i64, batches: usize) -> Vec<FetchedBatch> {
        let readable = |batch: &&FetchedBatch| batch.last_offset >= offset.max(self.log_start);
        self.log
            .iter()
            .filter(readable)
            .take(batches)
            .copied()
            .collect()
    }

    /// Does one thing and checks every invariant.
    pub fn apply(&mut self, op: &Op) {
        let before = self.seen();
        let leader_epoch = self.leader_epoch;
        self.perform(op, &before);
        let after = self.seen();
        assert_eq!(
            everything(&self.twin.sp),
            everything(&self.tree.sp),
            "{op:?}"
        );
        assert_eq!(self.twin.writes, self.tree.writes, "{op:?}");
        assert_eq!(self.twin.dead_letters, self.tree.dead_letters, "{op:?}");
        let fresh = both!(self, lab => lab.news());
        for (kind, token) in fresh {
            // A new leader may have come in between.
            if let Some(write) = self.twin.writes.get(&token).filter(|_| kind == 'w') {
                check_write(write);
            }
        }
        after.check(self.max_limit);
        self.done.extend(after.done());
        if after.has_gap {
            self.note("gap to read again");
        }
        if leader_epoch == self.leader_epoch {
            after.check_since(&before);
            self.check_passed(&before, &after);
            // Also what was given up and passed in one step, which is never seen to be terminal (S6).
            self.done.extend(before.start_offset..after.start_offset);
        }
    }

    /// The start offset passes only what is terminal, or gone from the log.
    fn check_passed(&self, before: &Seen, after: &Seen) {
        for offset in before.start_offset.max(self.log_start)..after.start_offset {
            let in_log = |batch: &FetchedBatch| {
                (batch.base_offset..=batch.last_offset).contains(&offset) && !batch.is_transactional
            };
            // It was terminal, perhaps with its write under way; or its lock ran out and it was given up in this step.
            let ended = before.records.get(&offset).is_some_and(|record| {
                let loose = record.phase == Phase::Pending || record.is_free(self.now());
                record.state.is_terminal() || loose && after.archived > before.archived
            });
            assert!(
                ended || !self.log.iter().any(in_log),
                "{offset} was passed over"
            );
        }
    }

    fn perform(&mut self, op: &Op, before: &Seen) {
        match op {
            Op::Acquire {
                member,
                record_limit,
                batch_size,
                max_records,
                behind,
                batches,
                aborted,
            } => {
                let fetch_offset = (before.next_fetch_offset - behind).max(0);
                let mode = if *record_limit {
                    AcquireMode::RecordLimit
                } else {
                    AcquireMode::BatchOptimized
                };
                let fetch = Fetch {
                    mode,
                    batch_size: *batch_size,
                    max_records: *max_records,
                    fetch_offset,
                    log: self.read_log(fetch_offset, *batches),
                    aborted: aborted.map(|first_offset| {
                        vec![AbortedTransaction {
                            producer_id: 7,
                            first_offset,
                        }]
                    }),
                };
                self.acquire(MEMBERS[*member], &fetch, before);
            }
            Op::Acknowledge {
                member,
                picks,
                types,
            } => {
                // That member, or the next one that holds something.
                let mut others = MEMBERS.iter().cycle().skip(*member).take(MEMBERS.len());
                if let Some(holder) = others.find(|name| !before.held_by(name).is_empty()) {
                    self.acknowledge_held(holder, picks, types, before);
                }
            }
            Op::AcknowledgeAnything {
                member,
                ranges,
                types,
            } => {
                let batches: Vec<(i64, i64, &[i8])> = ranges
                    .iter()
                    .map(|(first, more)| (*first, first + more, types.as_slice()))
                    .collect();
                self.acknowledge(MEMBERS[*member], &batches, before);
            }
            Op::Release(member) => {
                let held = before.held_by(MEMBERS[*member]);
                both!(self, lab => lab.release(MEMBERS[*member]));
                assert!(self.seen().held_by(MEMBERS[*member]).is_empty());
                if !held.is_empty() {
                    self.note("release");
                }
            }
            Op::Time(ms) => self.pass_time(*ms),
            Op::Clock(ms) => both!(self, lab => lab.now += ms),
            Op::LogStart(offset) => self.move_log_start(*offset),
            Op::Compact(index) => {
                // The last batch of a log is never compacted away.
                if self.log.len() > 1 {
                    self.log.remove(index % (self.log.len() - 1));
                }
            }
            Op::Configure(setting) => self.configure(*setting),
            Op::Answer(index, how) => {
                let tokens = self.tokens();
                if !tokens.is_empty() {
                    self.answer(tokens[index % tokens.len()], *how);
                }
            }
            Op::DeadLetterDone(index) => {
                let tokens: Vec<u64> = self.twin.dead_letters.keys().copied().collect();
                if !tokens.is_empty() {
                    let token = tokens[index % tokens.len()];
                    both!(self, lab => lab.dead_letter_done(token)).unwrap();
                    self.note("dead letter");
                }
            }
            Op::Repeat(index) => {
                if !self.sent.is_empty() {
                    let write = self.sent[index % self.sent.len()].clone();
                    let outcome = self.persister.write(&write);
                    self.note(if outcome.is_ok() {
                        "repeated"
                    } else {
                        "fenced"
                    });
                }
            }
            Op::OtherLeader => {
                self.leader_epoch += 1;
                self.persister.read(self.leader_epoch);
                self.leader_epoch -= 1;
            }
            Op::AlterOffsets(start_offset) => {
                self.persister.initialize(*start_offset);
                self.began_at = *start_offset;
            }
            Op::Crash(written) => self.crash(*written),
        }
    }

    /// Records of the log that are not terminal, whether or not they are in flight: those of transactions excepted, which
    /// may have been aborted.
    pub fn open(&self) -> Vec<i64> {
        let begin = self.began_at.max(self.log_start);
        let plain = self.log.iter().filter(|batch| !batch.is_transactional);
        let is_terminal =
            |offset: &i64| self.done.contains(offset) || self.persister.has_ended(*offset);
        plain
            .flat_map(|batch| batch.base_offset..=batch.last_offset)
            .filter(|offset| *offset >= begin && !is_terminal(offset))
            .collect()
    }

    pub fn pass_time(&mut self, ms: i64) {
        let now = self.now() + ms;
        if both!(self, lab => lab.time(now)) > 0 {
            self.note("lock time-out");
        }
        let held = self.seen().records;
        assert!(
            held.values()
                .all(|r| r.holder.as_ref().is_none_or(|(_, at)| *at > now))
        );
    }

    pub fn move_log_start(&mut self, offset: i64) {
        let end = self.log.last().map_or(0, |batch| batch.last_offset);
        self.log_start = self.log_start.max(offset.min(end));
        let log_start = self.log_start;
        if both!(self, lab => lab.move_log_start(log_start)) {
            self.note("log start move");
        }
        assert!(self.seen().start_offset >= log_start);
    }

    fn configure(&mut self, setting: Setting) {
        both!(self, lab => lab.configure(|config| match setting {
            Setting::Limit(limit) => config.delivery_count_limit = limit,
            Setting::LockDuration(ms) => config.record_lock_duration_ms = ms,
            Setting::MaxRecordLocks(records) => config.partition_max_record_locks = records,
            Setting::Renew(on) => config.renew_acknowledge_enable = on,
            Setting::DeadLetterQueue(on) => config.dead_letter_queue = on,
        }));
        self.max_limit = self
            .max_limit
            .max(self.twin.sp.config().delivery_count_limit);
    }
}
