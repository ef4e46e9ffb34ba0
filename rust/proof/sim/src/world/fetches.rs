//! Fetches that wait at a broker, and what they are given.

use share_state_core::in_flight::InFlightStore;
use share_state_core::share_partition::{AcquireRequest, AcquiredRange, SharePartition};
use share_state_core::share_session::Outcome;

use super::World;
use super::asks::partition;
use super::events::{Given, Told};
use super::types::Parked;
use crate::broken::Broken;
use crate::data_log::DataLog;
use crate::meeting::Meeting;

impl<S: InFlightStore> World<S> {
    /// Gives the fetches that wait at a broker what there is.
    pub(super) fn serve(&mut self, broker: usize) {
        if self.brokers[broker].parked.is_empty() {
            return;
        }
        let mut at = 0;
        while at < self.brokers[broker].parked.len() {
            let given = self.acquire_for(broker, at);
            if given.is_empty() {
                at += 1;
                continue;
            }
            let parked = self.brokers[broker].parked.remove(at);
            self.give(broker, parked, given);
        }
    }

    fn acquire_for(&mut self, broker: usize, at: usize) -> Vec<Given> {
        let mut given = Vec::new();
        let parts = self.brokers[broker].parked.get(at);
        let parts = parts.map_or_else(Vec::new, |parked| parked.parts.clone());
        for part in parts {
            let now = self.brokers[broker].now(self.now);
            let own = &mut self.brokers[broker];
            let Some(member) = own.parked.get(at).map(|parked| parked.member) else {
                continue;
            };
            let (Some(Some(led)), Some(log)) = (own.led.get_mut(part), self.logs.get(part)) else {
                continue;
            };
            let Some(member) = self.members.get(member) else {
                continue;
            };
            if !led.part.can_acquire() {
                continue;
            }
            let in_gap = led.part.gap_window().is_some();
            let acquired = if self.plan.cached {
                let id = std::sync::Arc::clone(&member.id);
                self.acquire_cached(broker, part, &id)
            } else {
                let read_on = self.broken == Some(Broken::ReadsOn);
                acquire(&mut led.part, log, &member.id, &self.plan, read_on, now)
            };
            let acquired = match acquired {
                Ok((acquired, aborted)) => {
                    if in_gap && aborted {
                        self.out.meetings.note(Meeting::AbortedInGap);
                    }
                    acquired
                }
                Err(error) => {
                    self.find(format!("acquire: {error}"));
                    return Vec::new();
                }
            };
            let limit = self.plan.limit;
            for range in &acquired {
                if range.delivery_count >= limit && self.brokers[broker].epoch > 0 {
                    self.meet(Meeting::LimitAfterTakeover);
                }
                self.check_given(part, range);
            }
            given.extend(acquired.iter().map(|range| Given {
                part,
                first: range.range.first,
                last: range.range.last,
                count: range.delivery_count,
                counts: true,
            }));
            self.pump(broker, part);
        }
        given
    }

    /// Checks that what is given was read: it is in the log, and committed if only that is to be read.
    fn check_given(&mut self, part: usize, range: &AcquiredRange) {
        let Some(log) = self.logs.get(part) else {
            return;
        };
        let (first, last) = (range.range.first, range.range.last);
        let beyond = last >= log.readable(self.plan.read_committed);
        let aborted =
            self.plan.read_committed && (first..=last).any(|offset| log.is_aborted(offset));
        if beyond || aborted {
            self.find(format!(
                "given: {first} to {last} of {part} was not to be read"
            ));
        }
    }

    fn give(&mut self, broker: usize, parked: Parked, mut given: Vec<Given>) {
        let outcomes: Vec<_> = parked
            .parts
            .iter()
            .copied()
            .map(|part| Outcome {
                id: partition(part),
                has_records: given.iter().any(|given| given.part == part),
                has_error: false,
                acknowledged: false,
            })
            .collect();
        let Parked {
            member,
            connection,
            request,
            context,
            ..
        } = parked;
        for given in &mut given {
            given.counts = !self.is_overtaken(broker, given.part);
            if !given.counts {
                self.meet(Meeting::TwoLeadersGive);
            }
        }
        if self.is(Broken::CountsNot) {
            for given in &mut given {
                given.count = given.count.min(1);
            }
        }
        let at = self.now;
        let admitted = self.brokers[broker]
            .sessions
            .answer(&context, &outcomes)
            .is_some();
        if !admitted {
            self.lost_grant(member, &given, at);
            self.answer(member, connection, request, Told::Session);
            return;
        }
        for each in &given {
            self.trace(each.first as u64);
            self.trace(each.last as u64);
            self.trace(each.count as u64);
        }
        let serial = self.number();
        let told = Told::Records { given, serial, at };
        if self.is(Broken::GivesTwice)
            && let Some(other) = self.brokers[broker].parked.pop()
        {
            self.answer(other.member, other.connection, other.request, told.clone());
        }
        self.answer(member, connection, request, told);
    }

    pub(super) fn fetch_ends(&mut self, broker: usize, life: u32, request: u64) {
        let own = &mut self.brokers[broker];
        if own.life != life {
            return;
        }
        let Some(at) = own
            .parked
            .iter()
            .position(|parked| parked.request == request)
        else {
            return;
        };
        let parked = own.parked.remove(at);
        self.give(broker, parked, Vec::new());
    }
}

/// Reads the log for a member and gives it what it may have; and whether aborted records were left out.
fn acquire<S: InFlightStore>(
    part: &mut SharePartition<S>,
    log: &DataLog,
    member: &str,
    plan: &crate::plan::Plan,
    read_on: bool,
    now: share_state_core::time::LockTime,
) -> Result<(Vec<AcquiredRange>, bool), String> {
    let next = part.next_fetch_offset();
    let fetch_offset = if read_on {
        next.max(part.end_offset())
    } else {
        next
    };
    let fetched = log.read(fetch_offset, plan.fetch_batches, plan.read_committed);
    let Some((first, last)) = fetched.first().zip(fetched.last()) else {
        return Ok((Vec::new(), false));
    };
    let aborted = log.aborted(first.base_offset, last.last_offset);
    let request = AcquireRequest {
        member,
        mode: plan.mode(),
        batch_size: plan.max_records,
        max_records: plan.max_records,
        fetch_offset,
        fetched,
        aborted: plan.read_committed.then_some(&aborted),
    };
    let archived =
        part.state_counts()[share_state_core::record_state::RecordState::Archived as usize];
    let acquired = part
        .acquire(&request, now)
        .map_err(|error| format!("{error}"))?;
    let more = part.state_counts()[share_state_core::record_state::RecordState::Archived as usize]
        > archived;
    Ok((acquired, more && plan.read_committed && !aborted.is_empty()))
}
