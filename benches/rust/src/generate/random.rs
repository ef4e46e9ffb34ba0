//! W5: acknowledgements in an order without a pattern.

use std::collections::BTreeSet;

use super::{Builder, Random};
use crate::oplog::{OpKind, OpLog};

const MEMBERS: u64 = 32;
/// Records of a log batch, and of an acquisition.
const BATCH: i64 = 500;
/// Number of acknowledgements that come with a fetch.
const ACKNOWLEDGEMENTS_PER_FETCH: usize = 100;
const ACCEPT: u8 = 1;
const RELEASE: u8 = 2;
const REJECT: u8 = 3;
const RENEW: u8 = 4;

/// Holder of each record, as the leader sees it.
struct Leader {
    b: Builder,
    random: Random,
    size: i64,
    holder: Vec<u16>,
    deliveries: Vec<u8>,
    available: BTreeSet<i64>,
    acknowledged: u64,
}

impl Leader {
    fn acknowledge(&mut self, offset: i64, id: u8) {
        let member = u32::from(self.holder[offset as usize]);
        self.b.acknowledge(0, member, (offset, offset), id);
        self.acknowledged += 1;
    }

    /// Reads the log batch around the first available record, and gives what is available of it to a member.
    fn fetch(&mut self) -> Vec<i64> {
        self.b.plain(OpKind::NextFetchOffset, 0);
        let Some(next) = self.available.first().copied() else {
            return Vec::new();
        };
        let first = next - next % BATCH;
        let last = (first + BATCH - 1).min(self.size - 1);
        let member = self.random.below(MEMBERS) as u16;
        self.b.acquire(0, u32::from(member), first, last);
        let behind = self.available.split_off(&(last + 1));
        let given: Vec<i64> = core::mem::replace(&mut self.available, behind)
            .into_iter()
            .collect();
        for offset in &given {
            self.holder[*offset as usize] = member;
            self.deliveries[*offset as usize] += 1;
        }
        given
    }
}

/// `size` records in acquisitions of 500 by 32 members, then single acknowledgements in a random order: 90% accept, 5%
/// release, 4% reject, 1% renew, with a fetch for each hundred. What is left is accepted at the end. An element is an
/// acknowledgement.
pub(super) fn random_order(size: u64, seed: u64) -> OpLog {
    let size = size as i64;
    let mut leader = Leader {
        b: Builder::new(1, MEMBERS as u32),
        random: Random::new(seed),
        size,
        holder: vec![0; size as usize],
        deliveries: vec![1; size as usize],
        available: BTreeSet::new(),
        acknowledged: 0,
    };
    // Kafka gives records that were delivered half as often as allowed in small parts: not what is measured here.
    leader.b.header().delivery_limit = 10;
    for first in (0..size).step_by(BATCH as usize) {
        let member = (first / BATCH) as u64 % MEMBERS;
        let last = (first + BATCH - 1).min(size - 1);
        leader.b.acquire(0, member as u32, first, last);
        leader.holder[first as usize..=last as usize].fill(member as u16);
    }
    leader.b.begin();
    let mut order: Vec<u32> = (0..size as u32).collect();
    leader.random.shuffle(&mut order);
    let mut left = Vec::new();
    for (i, offset) in order.into_iter().map(i64::from).enumerate() {
        let id = match leader.random.below(100) {
            0..90 => ACCEPT,
            90..95 => RELEASE,
            95..99 => REJECT,
            _ => RENEW,
        };
        leader.acknowledge(offset, id);
        if id == RELEASE {
            leader.available.insert(offset);
        } else if id == RENEW {
            left.push(offset);
        }
        if i % ACKNOWLEDGEMENTS_PER_FETCH == 0 {
            left.extend(leader.fetch());
        }
    }
    while !leader.available.is_empty() {
        left.extend(leader.fetch());
    }
    for offset in left {
        leader.acknowledge(offset, ACCEPT);
    }
    leader.b.end();
    leader.b.plain(OpKind::Check, 0);
    leader.b.finish(leader.acknowledged)
}
