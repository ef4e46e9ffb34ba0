//! Plan of a world: drawn from its seed, and made smaller by hand or by the shrinker.

use share_state_core::share_partition::AcquireMode;

use crate::chance::Chance;
use crate::fault::{Coming, Fault};

/// Microseconds of a millisecond.
pub const MS: i64 = 1_000;

/// Log batches: more than a window holds.
pub const READ_AHEAD: usize = 400;

/// A world before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Seed, from which all else follows.
    pub seed: u64,
    /// Times that each fault comes, in a thousand; 0 where it does not exist.
    pub rates: [u16; Fault::COUNT],
    /// Members at once.
    pub members: usize,
    /// Partitions of the topic.
    pub partitions: usize,
    /// Records in all logs.
    pub records: i64,
    /// Time in which faults come, microseconds.
    pub faulty_us: i64,
    /// `share.record.lock.duration.ms`.
    pub lock_ms: i64,
    /// `share.delivery.count.limit`.
    pub limit: i16,
    /// `share.partition.max.record.locks`.
    pub window: u32,
    /// The most records that a fetch asks for.
    pub max_records: i32,
    /// Records of a log batch at most.
    pub batch_records: i64,
    /// Log batches that a broker reads for a fetch at most.
    pub fetch_batches: usize,
    /// True if `max_records` is exact.
    pub record_limit: bool,
    /// True if only committed records are read.
    pub read_committed: bool,
    /// Longest time of a message on its way, microseconds.
    pub delay_us: i64,
    /// Longest time that a member works, microseconds.
    pub work_us: i64,
    /// Largest difference between members' clocks, microseconds.
    pub skew_us: i64,
    /// Drift of a leader's clock, faster or slower, in a million; 0 without drift.
    pub drift_ppm: i64,
    /// Bytes of a segment of the coordinator's log.
    pub segment_bytes: u64,
    /// Updates of a key before a snapshot.
    pub updates_per_snapshot: u32,
    /// State partitions of the coordinator.
    pub state_partitions: u32,
    /// True if leaders make their writes inside their calls.
    pub inline: bool,
    /// True if leaders read through the gateway's cache.
    pub cached: bool,
    /// True if a group coordinator tells members what to fetch.
    pub grouped: bool,
}

/// Parts that are taken away from a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Faults that do not come.
    pub without: Vec<Fault>,
    /// Largest number of members.
    pub members: Option<usize>,
    /// Largest number of records.
    pub records: Option<i64>,
    /// Faults come for at most so many milliseconds.
    pub faulty_ms: Option<i64>,
    /// Leaders queue their writes.
    pub queued: bool,
    /// Leaders read the log itself.
    pub uncached: bool,
    /// Members fetch all partitions.
    pub ungrouped: bool,
    /// A fetch reads more than a window holds.
    pub read_ahead: bool,
}

impl Plan {
    /// Draws a plan.
    #[must_use]
    pub fn draw(seed: u64) -> Self {
        let mut chance = Chance::new(seed, 1);
        // Some worlds have nearly every fault, most have a few.
        let likely = chance.of(&[100, 250, 400, 700], 400);
        let mut rates = [0; Fault::COUNT];
        for (rate, fault) in rates.iter_mut().zip(Fault::ALL) {
            let exists = chance.hit(likely);
            let often = match fault.coming() {
                Coming::ByChance => chance.of(&[10, 30, 100, 250], 30),
                Coming::AtTimes => chance.of(&[200, 500, 1000], 500),
            };
            *rate = if exists { often } else { 0 };
        }
        let lock_ms = chance.within(100, 1500);
        let drift = chance.within(-20_000, 20_000);
        let mut plan = Self {
            seed,
            rates,
            members: chance.within(1, 6) as usize,
            partitions: if chance.once_in(3) { 2 } else { 1 },
            records: chance.within(10, 300),
            faulty_us: chance.within(500, 8_000) * MS,
            lock_ms,
            limit: chance.within(2, 6) as i16,
            window: chance.of(&[4, 10, 30, 100, 2000], 100),
            max_records: chance.of(&[1, 5, 20, 500], 500),
            batch_records: chance.of(&[1, 4, 10, 40], 10),
            fetch_batches: Self::fetch_batches(seed),
            record_limit: chance.once_in(3),
            read_committed: chance.once_in(2),
            delay_us: chance.of(&[300, 2_000, 20_000], 2_000),
            work_us: chance.of(&[1, 5, 20, 60], 20) * lock_ms * MS / 50,
            skew_us: chance.of(&[0, 5 * MS, 20 * MS], 0),
            drift_ppm: 0,
            segment_bytes: chance.of(&[1024, 4096, 1 << 20], 4096),
            updates_per_snapshot: chance.of(&[0, 1, 3, 10, 500], 3),
            state_partitions: chance.of(&[1, 1, 3], 1),
            inline: Chance::new(seed, 3).once_in(4),
            cached: Chance::new(seed, 4).once_in(4),
            grouped: Chance::new(seed, 5).once_in(4),
        };
        if plan.rate(Fault::Drift) > 0 {
            plan.drift_ppm = drift;
        }
        plan
    }

    /// Draws the batches that a fetch brings: in a quarter of the worlds so few that it may end within a gap or before what is
    /// available.
    fn fetch_batches(seed: u64) -> usize {
        let mut chance = Chance::new(seed, 6);
        if chance.once_in(4) {
            chance.within(1, 3) as usize
        } else {
            READ_AHEAD
        }
    }

    /// The same with less.
    #[must_use]
    pub fn cut(&self, cuts: &Cuts) -> Self {
        let mut plan = self.clone();
        for (rate, fault) in plan.rates.iter_mut().zip(Fault::ALL) {
            if cuts.without.contains(&fault) {
                *rate = 0;
            }
        }
        if plan.rate(Fault::Drift) == 0 {
            plan.drift_ppm = 0;
        }
        plan.members = plan.members.min(cuts.members.unwrap_or(plan.members));
        plan.records = plan.records.min(cuts.records.unwrap_or(plan.records));
        let faulty_us = cuts.faulty_ms.map_or(plan.faulty_us, |ms| ms * MS);
        plan.faulty_us = plan.faulty_us.min(faulty_us);
        plan.inline &= !cuts.queued;
        plan.cached &= !cuts.uncached;
        plan.grouped &= !cuts.ungrouped;
        if cuts.read_ahead {
            plan.fetch_batches = READ_AHEAD;
        }
        plan
    }

    /// Exact mode if `max_records` is exact, as the engine has it.
    #[must_use]
    pub const fn mode(&self) -> AcquireMode {
        if self.record_limit {
            AcquireMode::RecordLimit
        } else {
            AcquireMode::BatchOptimized
        }
    }

    /// Times that a fault comes, in a thousand.
    #[must_use]
    pub fn rate(&self, fault: Fault) -> u16 {
        self.rates.get(fault as usize).copied().unwrap_or(0)
    }

    /// The faults that exist.
    pub fn faults(&self) -> impl Iterator<Item = Fault> + '_ {
        Fault::ALL.into_iter().filter(|fault| self.rate(*fault) > 0)
    }
}

impl Cuts {
    /// As arguments of the command line.
    #[must_use]
    pub fn arguments(&self) -> String {
        let mut text = String::new();
        if !self.without.is_empty() {
            let names: Vec<_> = self.without.iter().map(|fault| fault.name()).collect();
            text += &format!(" --without {}", names.join(","));
        }
        for (name, value) in [
            ("members", self.members.map(|members| members as i64)),
            ("records", self.records),
            ("faulty-ms", self.faulty_ms),
        ] {
            text += &value.map_or(String::new(), |value| format!(" --{name} {value}"));
        }
        for (is_cut, word) in [
            (self.queued, " --queued"),
            (self.uncached, " --uncached"),
            (self.ungrouped, " --ungrouped"),
            (self.read_ahead, " --read-ahead"),
        ] {
            text += if is_cut { word } else { "" };
        }
        text
    }
}
