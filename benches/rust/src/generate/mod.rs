//! Makes the operation logs. The same name, size and seed make the same file.

mod builder;
mod driven;
mod fold;
mod locks;
mod many;
mod random;
mod steady;
mod window;

pub use builder::{Builder, Random};

use crate::oplog::OpLog;

type Generator = fn(u64, u64) -> OpLog;
type DurableGenerator = fn(u64, u64, u64) -> OpLog;

/// Every workload, and what makes its log from size and seed.
pub const WORKLOADS: &[(&str, Generator)] = &[
    ("W1", steady::whole_batches),
    ("W2", steady::type_a_record),
    ("W3", steady::in_order),
    ("W4", steady::alternate),
    ("W4-together", steady::alternate_together),
    ("W5", random::random_order),
    ("W6", window::poison),
    ("W6-next", window::next_behind),
    ("W6-cycle", window::cycle_behind),
    ("W7", locks::separate),
    ("W7-exploded", locks::exploded),
    ("W7-jittered", locks::jittered),
    ("W8", locks::heartbeat),
    ("W9", locks::member_crash),
    ("W10", driven::leader_changes),
    ("W11", fold::deltas),
    ("W12", fold::snapshot),
    ("W13-uniform", many::uniform),
    ("W13-zipf", many::zipf),
    ("W14", driven::always_failing),
    ("W15-jump", window::log_start_jump),
    ("W15-gaps", window::half_missing),
    ("W16", many::hot_and_cold),
    ("encode", fold::encode),
    ("memory-shredded", locks::shredded),
    ("memory-singly", locks::singly),
    ("memory-empty", many::empty),
    ("memory-live", many::live),
];

/// Workloads whose writes can go to a disk, so that they take the number of them as well.
const DURABLE: &[(&str, DurableGenerator)] = &[
    ("W1-durable", |size, _, writes| steady::cycles(size, writes)),
    ("W4-durable", |size, _, writes| {
        steady::alternate_writes(size, writes)
    }),
    ("W13-durable", many::durable),
];
/// Writes of such a log, unless told otherwise: so few that each can wait for the disk.
pub const WRITES: u64 = 2_000;

/// The log of a workload; `None` when nothing has this name.
#[must_use]
pub fn generate(workload: &str, size: u64, seed: u64) -> Option<OpLog> {
    generate_writes(workload, size, seed, WRITES)
}

/// As [`generate`], with so many writes where the workload takes their number.
#[must_use]
pub fn generate_writes(workload: &str, size: u64, seed: u64, writes: u64) -> Option<OpLog> {
    let durable = DURABLE.iter().find(|(name, _)| *name == workload);
    let mut log = if let Some((_, generator)) = durable {
        generator(size, seed, writes)
    } else {
        let (_, generator) = WORKLOADS.iter().find(|(name, _)| *name == workload)?;
        generator(size, seed)
    };
    log.header.workload = workload.to_owned();
    log.header.size = size;
    log.header.seed = seed;
    Some(log)
}
