//! Records are produced; and in the end the faults stop, and what is left is delivered.

use std::collections::BTreeSet;
use std::sync::Arc;

use share_state_core::in_flight::InFlightStore;
use share_state_core::share_partition::{SharePartition, Status};

use super::events::What;
use super::{CALM, World};
use crate::data_log::DataLog;
use crate::fault::Fault;
use crate::plan::MS;

impl<S: InFlightStore> World<S> {
    pub(super) fn produce(&mut self) {
        let part = self.chance.below(self.logs.len());
        let records = self
            .chance
            .within(1, self.plan.batch_records)
            .min(self.left);
        if records <= 0 {
            return;
        }
        self.left -= records;
        let hole = if self.hit(Fault::Hole) {
            self.chance.within(1, 5)
        } else {
            0
        };
        let transactional = self.hit(Fault::Transaction);
        let Some(log) = self.logs.get_mut(part) else {
            return;
        };
        let begins = transactional && !log.is_open();
        let (first, last) = log.append(records, hole, transactional);
        if !transactional || !self.plan.read_committed {
            self.recorder.produced(self.now, part, first, last);
        }
        if begins {
            let wait = self.chance.within(0, 500) * MS;
            self.later(wait, What::EndTransaction { part });
        }
        // Half of the time there is more to do than to fetch.
        let pace = self.plan.faulty_us * self.plan.batch_records / self.plan.records.max(1);
        let wait = self.chance.within(0, pace);
        self.later(wait, What::Produce);
        self.serve_all();
    }

    pub(super) fn end_transaction(&mut self, part: usize) {
        let commit = self.chance.once_in(2);
        let Some(log) = self.logs.get_mut(part) else {
            return;
        };
        let committed = log.end_transaction(commit);
        if self.plan.read_committed {
            for (first, last) in committed {
                self.recorder.produced(self.now, part, first, last);
            }
        }
        self.serve_all();
    }

    fn serve_all(&mut self) {
        for broker in 0..self.brokers.len() {
            self.serve(broker);
        }
    }

    /// The faults stop.
    pub(super) fn calm(&mut self) {
        self.is_calm = true;
        self.calm_since = self.now;
        self.is_resetting = false;
        if self.store.open.is_some() {
            self.store.disk.set_fault(None);
        }
        self.later(500 * MS, What::StoreStarts);
        for member in &mut self.members {
            member.is_leaving = false;
        }
        self.twins_go();
        for broker in 0..self.brokers.len() {
            if !self.brokers[broker].is_up {
                self.later(10 * MS, What::BrokerStarts { broker });
            }
            if broker != self.leader {
                self.told(broker, i32::MAX);
            }
        }
        self.later(20 * MS, What::TakesOver);
        if self.members.iter().all(|member| !member.is_alive) {
            self.later(10 * MS, What::NewMember);
        }
        self.later(100 * MS, What::Drain);
    }

    /// Crashes all but one of the members with one id: they would take each other's session without end.
    fn twins_go(&mut self) {
        let mut known = BTreeSet::new();
        let alive = self
            .members
            .iter()
            .enumerate()
            .filter(|(_, own)| own.is_alive);
        let twins: Vec<usize> = alive
            .filter(|(_, own)| !known.insert(Arc::clone(&own.id)))
            .map(|(number, _)| number)
            .collect();
        for member in twins {
            self.crash_member(member);
        }
    }

    /// The world is over once every record has ended, or when it takes too long.
    pub(super) fn drain(&mut self) {
        let leader = &self.brokers[self.leader];
        let has_ended = |part: usize| {
            let led = leader.led.get(part).and_then(Option::as_ref);
            let log = self.logs.get(part);
            led.zip(log)
                .is_some_and(|(led, log)| is_done(&led.part, log, self.plan.read_committed))
        };
        let drained = self.left <= 0
            && self.store.open.is_some()
            && !self.logs.iter().any(DataLog::is_open)
            && (0..self.plan.partitions).all(has_ended)
            && self.group_agrees();
        let is_late = self.now - self.calm_since > CALM;
        if drained && !self.is_draining {
            // What was answered last is on its way.
            self.is_draining = true;
            self.later(4 * self.plan.lock_ms * MS, What::Drain);
            return;
        }
        if !drained && !is_late {
            self.later(200 * MS, What::Drain);
            return;
        }
        if let Err(error) = self.compare_leader() {
            self.find(format!("agree: {error}"));
        }
        self.view_all();
        self.recorder.drained(self.now);
        if !drained {
            let ends: Vec<_> = self.logs.iter().map(|log| (log.start, log.end)).collect();
            let leader = &self.brokers[self.leader];
            let starts: Vec<_> = leader
                .led
                .iter()
                .map(|led| {
                    led.as_ref().map(|led| {
                        (
                            led.part.status(),
                            led.part.start_offset(),
                            led.part.next_fetch_offset(),
                            led.part.end_offset(),
                            led.part.gap_window(),
                            led.part
                                .in_flight()
                                .map(|run| (run.range.first, run.range.last, run.state, run.phase))
                                .take(5)
                                .collect::<Vec<_>>(),
                        )
                    })
                })
                .collect();
            self.find(format!(
                "calm: the group agrees: {}, logs {ends:?} end, and the share partitions are at {starts:?}",
                self.group_agrees()
            ));
        }
        self.is_over = true;
    }
}

/// Returns true if every record of the log has ended, and that is written. The start offset may be lower, and so may the next
/// fetch: what lies in a gap window without a record is passed only when more is read.
fn is_done<S: InFlightStore>(
    part: &SharePartition<S>,
    log: &DataLog,
    read_committed: bool,
) -> bool {
    if part.status() != Status::Active || part.writes_under_way() > 0 {
        return false;
    }
    let mut next = part.start_offset();
    let is_empty = |from: i64, to: i64| {
        let unseen =
            |offset: i64| log.has_record(offset) && !(read_committed && log.is_aborted(offset));
        !(from.max(log.start)..to).any(unseen)
    };
    for run in part.in_flight() {
        if !run.state.is_terminal() || !is_empty(next, run.range.first) {
            return false;
        }
        next = next.max(run.range.last + 1);
    }
    is_empty(next, log.end)
}
