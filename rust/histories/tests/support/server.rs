//! The server: one entry a record, every rule as it stands in the proposal.

mod whole;

/// Fault that the server makes, once, as soon as it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An accepted record is available again.
    ForgetsAnEnd,
    /// A locked record is given to another member too.
    GivesTwice,
    /// An available record counts as done.
    LosesARecord,
    /// A grant counts twice.
    CountsTwice,
    /// A grant does not count.
    CountsNot,
    /// A record is delivered beyond the limit.
    IgnoresTheLimit,
    /// A view shows an older start offset.
    ShowsAnOldStart,
    /// A view shows an older leader epoch.
    ShowsAnOldLeader,
    /// The start offset passes a record that is locked or available.
    PassesARecord,
    /// An acknowledgement whose answer is lost is applied to half of its records.
    AppliesHalf,
    /// A lock ends at a third of its time.
    UnlocksEarly,
    /// Available records are not delivered for a long time.
    Stalls,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Available,
    Acquired { member: usize, deadline: i64 },
    Ended,
}

#[derive(Clone, Debug)]
struct Record {
    state: State,
    count: i64,
    /// State that another leader would find: the count, and true if the record ended.
    written: (i64, bool),
    confirmed: bool,
}

/// A range of records with one count.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    pub first: i64,
    pub last: i64,
    pub count: i64,
}

#[derive(Clone, Debug)]
pub struct Server {
    records: Vec<Record>,
    /// True if another leader has taken over: then nothing is written, and no acknowledgement taken.
    is_fenced: bool,
    pub start: i64,
    pub log_start: i64,
    pub leader_epoch: i64,
    pub state_epoch: i64,
    pub limit: i64,
    pub lock: i64,
    pub fault: Option<Fault>,
    /// True once the fault was done.
    pub is_done: bool,
    /// Time from which faults are done.
    pub fault_from: i64,
    stalled_until: i64,
    /// Length of a stall.
    pub stall: i64,
}

impl Server {
    pub fn new(limit: i64, lock: i64, fault: Option<Fault>, fault_from: i64, stall: i64) -> Self {
        Self {
            records: Vec::new(),
            is_fenced: false,
            start: 0,
            log_start: 0,
            leader_epoch: 3,
            state_epoch: 1,
            limit,
            lock,
            fault,
            is_done: false,
            fault_from,
            stalled_until: 0,
            stall,
        }
    }

    pub fn produce(&mut self, records: i64) -> (i64, i64) {
        let first = self.records.len() as i64;
        for _ in 0..records {
            self.records.push(Record {
                state: State::Available,
                count: 0,
                written: (0, false),
                confirmed: false,
            });
        }
        (first, self.records.len() as i64 - 1)
    }

    pub fn end(&self) -> i64 {
        self.records.len() as i64
    }

    pub fn is_drained(&self) -> bool {
        self.records
            .iter()
            .all(|record| record.state == State::Ended)
    }

    fn due(&self, fault: Fault, now: i64) -> bool {
        self.fault == Some(fault) && !self.is_done && now >= self.fault_from
    }

    /// Ends what is over.
    pub fn tick(&mut self, now: i64) {
        for at in 0..self.records.len() {
            let early = self.due(Fault::UnlocksEarly, now);
            let beyond = self.due(Fault::IgnoresTheLimit, now);
            let (lock, limit) = (self.lock, self.limit);
            let record = &mut self.records[at];
            let State::Acquired { deadline, .. } = record.state else {
                continue;
            };
            let is_early = early && now >= deadline - 2 * lock / 3 && now < deadline - lock / 3;
            if now >= deadline || is_early {
                let is_last = record.count >= limit && !beyond;
                self.is_done |= is_early || (record.count >= limit && beyond);
                record.state = if is_last {
                    State::Ended
                } else {
                    State::Available
                };
                record.written = (record.count, is_last);
            }
        }
        if self.due(Fault::ForgetsAnEnd, now) {
            let limit = self.limit;
            let ended = |record: &Record| record.confirmed && record.count < limit;
            let start = self.start as usize;
            if let Some(record) = self
                .records
                .iter_mut()
                .skip(start)
                .find(|record| ended(record))
            {
                record.state = State::Available;
                self.is_done = true;
            }
        }
        if self.due(Fault::LosesARecord, now) {
            let available =
                |record: &&mut Record| record.state == State::Available && record.count < 2;
            if let Some(record) = self.records.iter_mut().find(available) {
                record.state = State::Ended;
                self.is_done = true;
            }
        }
        if self.due(Fault::PassesARecord, now)
            && self.records.get(self.start as usize).is_some_and(|record| {
                record.count < self.limit && !matches!(record.state, State::Ended)
            })
        {
            self.start += 1;
            self.is_done = true;
        }
        while self
            .records
            .get(self.start as usize)
            .is_some_and(|record| record.state == State::Ended)
        {
            self.start += 1;
        }
    }

    /// Acquires for a member.
    pub fn fetch(&mut self, member: usize, now: i64, most: i64) -> Vec<Given> {
        self.tick(now);
        if self.due(Fault::Stalls, now) {
            self.stalled_until = now + self.stall;
            self.is_done = true;
        }
        if now < self.stalled_until {
            return Vec::new();
        }
        let mut given: Vec<Given> = Vec::new();
        let mut room = most;
        for offset in self.start.max(self.log_start)..self.records.len() as i64 {
            if room == 0 {
                break;
            }
            let twice = self.due(Fault::GivesTwice, now);
            let (again, not) = (
                self.due(Fault::CountsTwice, now),
                self.due(Fault::CountsNot, now),
            );
            let (limit, deadline) = (self.limit, now + self.lock);
            let record = &mut self.records[offset as usize];
            let is_twice = twice
                && matches!(record.state, State::Acquired { member: holder, deadline }
                    if holder != member && deadline > now + 3 * self.lock / 4);
            if record.state != State::Available && !is_twice {
                continue;
            }
            self.is_done |= is_twice;
            record.count += 1;
            if again && record.count < limit {
                record.count += 1;
                self.is_done = true;
            }
            if not && record.count > 1 {
                record.count -= 1;
                self.is_done = true;
            }
            record.state = State::Acquired { member, deadline };
            room -= 1;
            match given.last_mut() {
                Some(last) if last.last + 1 == offset && last.count == record.count => {
                    last.last = offset;
                }
                _ => given.push(Given {
                    first: offset,
                    last: offset,
                    count: record.count,
                }),
            }
        }
        given
    }

    /// Applies an acknowledgement, all of it or nothing; returns whether it was taken.
    pub fn acknowledge(
        &mut self,
        member: usize,
        now: i64,
        ranges: &[(i64, i64, i64)],
        lost: bool,
    ) -> bool {
        self.tick(now);
        let offsets: Vec<(i64, i64)> = ranges
            .iter()
            .flat_map(|&(first, last, kind)| (first..=last).map(move |offset| (offset, kind)))
            .collect();
        let holds = |&(offset, _): &(i64, i64)| matches!(self.records[offset as usize].state, State::Acquired { member: holder, .. } if holder == member);
        if self.is_fenced || !offsets.iter().all(holds) {
            return false;
        }
        let half = lost
            && self.due(Fault::AppliesHalf, now)
            && offsets.len() >= 4
            && offsets.iter().all(|&(offset, kind)| {
                matches!(kind, 1 | 3) && self.records[offset as usize].count < self.limit - 1
            });
        self.is_done |= half;
        let applied = if half {
            offsets.len() / 2
        } else {
            offsets.len()
        };
        for &(offset, kind) in &offsets[..applied] {
            let (limit, lock) = (self.limit, self.lock);
            let record = &mut self.records[offset as usize];
            record.state = match kind {
                4 => State::Acquired {
                    member,
                    deadline: now + lock,
                },
                2 if record.count < limit => State::Available,
                _ => State::Ended,
            };
            record.confirmed = matches!(kind, 1 | 3) && !lost;
            if kind != 4 {
                record.written = (record.count, record.state == State::Ended);
            }
        }
        self.tick(now);
        true
    }
}
