//! The invariants of the window.

use std::collections::BTreeMap;

use super::StateCounts;
use super::cell::Class;
use super::dense::{Dense, LONGEST};
use super::directory::{Leaves, List};
use super::leaf::{Body, Leaf};
use super::tally::Tally;
use super::window::{Window, add};
use crate::offset::OffsetRange;

impl Leaf {
    /// Checks what the leaf knows of itself.
    fn check(&self) -> Result<(), String> {
        let edges = self.edges();
        let mut tally = Tally::default();
        for (at, edge) in edges.iter().enumerate() {
            let range = super::runs::range_of(&edges, at, self.range.last);
            if range.first > range.last || !self.range.covers(range) {
                return Err(format!("{edge:?} does not lie in {}", self.range));
            }
            if self.is_dense() {
                tally.add(edge.cell.classes(), 1);
                tally.add(edge.cell.tail().classes(), range.len() - 1);
            } else {
                tally.add(edge.cell.classes(), 1);
            }
            if at > 0 && edges[at - 1].cell.joins(edge.cell) {
                return Err(format!("{edge:?} is part of the run before"));
            }
        }
        let hole = |edge: Option<&super::runs::Edge>| edge.is_none_or(|edge| edge.cell.is_hole());
        if hole(edges.first()) || hole(edges.last()) {
            return Err(format!("{} begins or ends with a hole", self.range));
        }
        if tally != self.tally {
            return Err(format!(
                "{tally:?} in {}, counted {:?}",
                self.range, self.tally
            ));
        }
        match &self.body {
            Body::Runs(_) => Ok(()),
            Body::Dense(dense) => dense.check(),
        }
    }
}

impl Dense {
    /// Checks seams and maps against the codes.
    fn check(&self) -> Result<(), String> {
        let live = self.live as usize;
        let seams: u32 = (live + 1..self.codes.len()).map(|at| self.seam(at)).sum();
        if seams != self.seams {
            return Err(format!("{seams} seams, counted {}", self.seams));
        }
        for class in Class::ALL {
            for at in 0..LONGEST {
                let bit = self.maps[class as usize][at / 64] >> (at % 64) & 1 != 0;
                let held = at >= live && at < self.codes.len();
                if bit != (held && self.codes[at].cell().classes() & class.bit() != 0) {
                    return Err(format!(
                        "the map of {class:?} is wrong at {}",
                        self.offset(at)
                    ));
                }
            }
        }
        Ok(())
    }
}

impl<const N: usize> Leaves<N> {
    fn check(&self) -> Result<(), String> {
        let mut beyond: Option<OffsetRange> = None;
        let mut next = self.first();
        while let Some(at) = next {
            let Some(leaf) = self.get(at) else {
                return Err(format!("there is no leaf at {at:?}"));
            };
            leaf.check()?;
            let most = if leaf.is_dense() {
                Self::DENSE
            } else {
                Self::RUNS
            };
            let entries = if leaf.is_dense() {
                leaf.reach(leaf.range.last) as usize
            } else {
                leaf.runs()
            };
            if entries > most {
                return Err(format!("{} has {entries} entries", leaf.range));
            }
            if beyond.is_some_and(|beyond| beyond.last >= leaf.range.first) {
                return Err(format!("{} does not lie after {beyond:?}", leaf.range));
            }
            beyond = Some(leaf.range);
            next = self.next(at);
        }
        let List::Many(many) = &self.list else {
            return Ok(());
        };
        let leaves: usize = many.groups.iter().map(|group| group.leaves.len()).sum();
        if leaves < 2 {
            return Err(format!("{leaves} leaves in {} groups", many.groups.len()));
        }
        let mut fresh = self.clone();
        let mut next = self.first();
        while let Some(at) = next {
            fresh.refresh(at);
            next = self.next(at);
        }
        let List::Many(fresh) = fresh.list else {
            return Ok(());
        };
        for (group, fresh) in many.groups.iter().zip(&fresh.groups) {
            if group.maps != fresh.maps || group.last != fresh.last {
                return Err(format!(
                    "the maps {:?} should be {:?}, the end {} {}",
                    group.maps, fresh.maps, group.last, fresh.last
                ));
            }
            let unused = u64::MAX.checked_shl(group.leaves.len() as u32).unwrap_or(0);
            if group.leaves.is_empty()
                || group.leaves.len() > N
                || Class::ALL
                    .iter()
                    .any(|class| group.maps[*class as usize] & unused != 0)
            {
                return Err(format!("{} leaves, {:?}", group.leaves.len(), group.maps));
            }
        }
        Ok(())
    }
}

impl<const N: usize> Window<N> {
    /// Checks leaves, counts and locks against the records.
    pub(super) fn check(&self) -> Result<(), String> {
        self.leaves.check()?;
        let mut counts = StateCounts::default();
        let mut leases: BTreeMap<u32, (u64, OffsetRange)> = BTreeMap::new();
        let mut beyond: Option<OffsetRange> = None;
        for leaf in self.leaves.iter() {
            let edges = leaf.edges();
            for (at, edge) in edges.iter().enumerate() {
                let (range, cell) = (
                    super::runs::range_of(&edges, at, leaf.range.last),
                    edge.cell,
                );
                if cell.is_hole() {
                    continue;
                }
                add(&mut counts, cell.state(), range.len());
                let continues = beyond.is_some_and(|run| run.is_followed_by(range.first));
                if !cell.is_start() && !continues {
                    return Err(format!(
                        "no batch begins at {range}, after a hole: {cell:?}"
                    ));
                }
                let locked = cell.lock() != super::NONE;
                if locked != cell.is_lockable() {
                    return Err(format!(
                        "records have a lock exactly while acquired or pending with a way back, not {range}: {cell:?}"
                    ));
                }
                if locked {
                    let (live, extent) = leases.entry(cell.lock()).or_insert((0, range));
                    *live = live.saturating_add(range.len());
                    extent.last = range.last;
                }
                beyond = Some(range);
            }
        }
        if counts != self.counts() {
            return Err(format!(
                "records by state are {counts:?}, counted {:?}",
                self.counts()
            ));
        }
        if self.leaves.are_many() && self.counts.is_none() {
            return Err(String::from("nobody counts the records of many leaves"));
        }
        self.locks.listed().check(&leases)
    }
}
