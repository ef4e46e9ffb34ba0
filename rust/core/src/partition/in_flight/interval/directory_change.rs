//! Leaves come and go: the groups and what they know are kept up.

use super::cell::Cell;
use super::directory::{Group, Leaves, List, Many, ORIGIN, Spot, spot};
use super::leaf::{Body, Leaf};
use super::runs::Edge;
use super::tally::Tally;
use crate::offset::OffsetRange;

impl<const N: usize> Leaves<N> {
    /// Brings what is known of a leaf and of the one before up to date, which may not know how far it is.
    pub fn refresh_both(&mut self, at: Spot) {
        self.refresh(at);
        if let Some(prev) = self.prev(at) {
            self.refresh(prev);
        }
    }

    /// Makes the first leaf of an empty window.
    pub fn begin(&mut self, batch: OffsetRange, cell: Cell) {
        if let List::None(edges) = &mut self.list {
            let mut edges = core::mem::take(edges);
            edges.push(Edge {
                first: batch.first,
                cell,
            });
            let mut tally = Tally::default();
            tally.add(cell.classes(), 1);
            self.list = List::One(Leaf {
                range: batch,
                tally,
                body: Body::Runs(edges),
            });
        }
    }

    /// Puts a leaf right after the one at `at`, or before all others, and says where it stands now.
    pub fn insert_after(&mut self, at: Option<Spot>, leaf: Leaf) -> Spot {
        if let List::One(_) = &self.list
            && let List::One(one) = core::mem::take(&mut self.list)
        {
            let mut group = Group::of(Vec::with_capacity(4));
            group.leaves.push(one);
            self.list = List::Many(Box::new(Many {
                groups: vec![group],
                hint: ORIGIN,
            }));
            self.refresh(ORIGIN);
        }
        let List::Many(many) = &mut self.list else {
            self.list = List::One(leaf);
            return ORIGIN;
        };
        let (mut group, mut place) =
            at.map_or((0, 0), |at| (at.group as usize, at.at as usize + 1));
        if many.groups[group].leaves.len() == N {
            // Leaves are mostly added after the last one: then the full group stays full.
            let last = group + 1 == many.groups.len() && place == N;
            let half = if last { N } else { N / 2 };
            let leaves = many.groups[group].leaves.split_off(half);
            let mut right = Group::of(leaves);
            let left = &mut many.groups[group];
            if !last {
                for (map, moved) in left.maps.iter_mut().zip(&mut right.maps) {
                    *moved = *map >> half;
                    *map &= !(u64::MAX << half);
                }
                left.last = left.leaves.last().map_or(i64::MIN, |leaf| leaf.range.last);
            }
            many.groups.insert(group + 1, right);
            if place > half || last {
                (group, place) = (group + 1, place - half);
            }
        }
        let here = &mut many.groups[group];
        debug_assert!(
            place
                .checked_sub(1)
                .is_none_or(|prev| here.leaves[prev].range.last < leaf.range.first)
                && here
                    .leaves
                    .get(place)
                    .is_none_or(|next| leaf.range.last < next.range.first),
            "the leaf {} lies between its neighbours",
            leaf.range
        );
        debug_assert!(here.leaves.len() < N, "a group has room for the leaf");
        here.leaves.insert(place, leaf);
        here.shift(place, true);
        let new = spot(group, place);
        self.refresh_both(new);
        new
    }

    /// Takes the leaf out.
    pub fn remove(&mut self, at: Spot) -> Option<Leaf> {
        let many = match &mut self.list {
            List::None(_) => return None,
            List::One(_) => {
                let List::One(leaf) = core::mem::take(&mut self.list) else {
                    return None;
                };
                return Some(leaf);
            }
            List::Many(many) => many,
        };
        let prev = Self::prev_of(many, at);
        let group = many.groups.get_mut(at.group as usize)?;
        let leaf = group.leaves.remove(at.at as usize);
        group.shift(at.at as usize, false);
        match group.leaves.last() {
            Some(last) => group.last = last.range.last,
            None => {
                many.groups.remove(at.group as usize);
            }
        }
        if let [group] = many.groups.as_mut_slice()
            && group.leaves.len() == 1
        {
            if let Some(last) = group.leaves.pop() {
                self.list = List::One(last);
            }
        } else if let Some(prev) = prev {
            self.refresh(prev);
        }
        Some(leaf)
    }

    fn prev_of(many: &Many, at: Spot) -> Option<Spot> {
        if let Some(before) = at.at.checked_sub(1) {
            return Some(Spot { at: before, ..at });
        }
        let group = at.group.checked_sub(1)? as usize;
        Some(spot(
            group,
            many.groups.get(group)?.leaves.len().checked_sub(1)?,
        ))
    }
}
