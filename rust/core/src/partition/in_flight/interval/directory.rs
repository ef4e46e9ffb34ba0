//! The leaves in ascending order, in groups with a word for each class: which leaves of the group have such an entry.
//!
//! A window of one leaf, which most share partitions never exceed, has nothing around it.

use super::cell::Class;
use super::leaf::Leaf;
use super::runs::Edge;
use crate::offset::OffsetRange;

/// Place of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub group: u32,
    pub at: u32,
}

pub(super) const ORIGIN: Spot = Spot { group: 0, at: 0 };

#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Last offset of the last leaf.
    pub last: i64,
    /// Leaves that have an entry of each class; for holes also those that a hole follows.
    pub maps: [u64; 4],
    pub leaves: Vec<Leaf>,
}

/// The leaves of a window, at most `N` a group.
#[derive(Clone, Debug)]
pub(super) struct Leaves<const N: usize> {
    pub list: List,
    /// Set if neighbouring batches whose records are all equal and done may become one.
    pub merges: bool,
}

#[derive(Clone, Debug)]
pub(super) enum List {
    /// Nothing is in flight; the allocation of the leaf that was is kept.
    None(Vec<Edge>),
    One(Leaf),
    Many(Box<Many>),
}

#[derive(Clone, Debug)]
pub(super) struct Many {
    pub groups: Vec<Group>,
    /// The leaf last changed: members acknowledge neighbouring records one after the other.
    pub hint: Spot,
}

impl Default for List {
    fn default() -> Self {
        Self::None(Vec::new())
    }
}

impl<const N: usize> Default for Leaves<N> {
    fn default() -> Self {
        Self {
            list: List::default(),
            merges: true,
        }
    }
}

impl Group {
    pub fn of(leaves: Vec<Leaf>) -> Self {
        Self {
            last: leaves.last().map_or(i64::MIN, |leaf| leaf.range.last),
            maps: [0; 4],
            leaves,
        }
    }

    /// Opens or closes a place in the maps.
    pub fn shift(&mut self, at: usize, open: bool) {
        for map in &mut self.maps {
            let low = *map & !(u64::MAX << at);
            let high = *map & (u64::MAX << at);
            *map = low
                | if open {
                    high << 1
                } else {
                    high >> 1 & (u64::MAX << at)
                };
        }
    }
}

impl<const N: usize> Leaves<N> {
    pub const fn is_empty(&self) -> bool {
        matches!(self.list, List::None(_))
    }

    pub const fn are_many(&self) -> bool {
        matches!(self.list, List::Many(_))
    }

    pub fn first(&self) -> Option<Spot> {
        (!self.is_empty()).then_some(ORIGIN)
    }

    pub fn last(&self) -> Option<Spot> {
        match &self.list {
            List::None(_) => None,
            List::One(_) => Some(ORIGIN),
            List::Many(many) => {
                let group = many.groups.len().checked_sub(1)?;
                let at = many.groups[group].leaves.len().checked_sub(1)?;
                Some(spot(group, at))
            }
        }
    }

    #[inline]
    pub fn get(&self, at: Spot) -> Option<&Leaf> {
        match &self.list {
            List::None(_) => None,
            List::One(leaf) => Some(leaf),
            List::Many(many) => many.leaf(at),
        }
    }

    pub fn get_mut(&mut self, at: Spot) -> Option<&mut Leaf> {
        match &mut self.list {
            List::None(_) => None,
            List::One(leaf) => Some(leaf),
            List::Many(many) => {
                let group = many.groups.get_mut(at.group as usize)?;
                group.leaves.get_mut(at.at as usize)
            }
        }
    }

    pub fn next(&self, at: Spot) -> Option<Spot> {
        let List::Many(many) = &self.list else {
            return None;
        };
        let here = many.groups.get(at.group as usize)?;
        if at.at as usize + 1 < here.leaves.len() {
            Some(Spot {
                at: at.at + 1,
                ..at
            })
        } else {
            let next = at.group as usize + 1;
            (next < many.groups.len()).then(|| spot(next, 0))
        }
    }

    pub fn prev(&self, at: Spot) -> Option<Spot> {
        let List::Many(many) = &self.list else {
            return None;
        };
        if let Some(before) = at.at.checked_sub(1) {
            return Some(Spot { at: before, ..at });
        }
        let group = at.group.checked_sub(1)? as usize;
        Some(spot(
            group,
            many.groups.get(group)?.leaves.len().checked_sub(1)?,
        ))
    }

    /// The leaf that holds `offset`, or else the first one after it.
    #[inline]
    pub fn reaching(&self, offset: i64) -> Option<Spot> {
        match &self.list {
            List::None(_) => None,
            List::One(leaf) => (offset <= leaf.range.last).then_some(ORIGIN),
            List::Many(many) => {
                if many
                    .leaf(many.hint)
                    .is_some_and(|leaf| leaf.range.contains(offset))
                {
                    return Some(many.hint);
                }
                let first = many.groups.first()?.leaves.first()?;
                if offset <= first.range.last {
                    return Some(ORIGIN);
                }
                let group = many.groups.partition_point(|group| group.last < offset);
                let leaves = &many.groups.get(group)?.leaves;
                Some(spot(
                    group,
                    leaves.partition_point(|leaf| leaf.range.last < offset),
                ))
            }
        }
    }

    /// The last leaf that begins at or before `offset`.
    pub fn beginning(&self, offset: i64) -> Option<Spot> {
        let at = match self.reaching(offset) {
            Some(at) if self.get(at)?.range.first <= offset => return Some(at),
            Some(at) => at,
            None => return self.last(),
        };
        self.prev(at)
    }

    /// The leaf last changed, if `range` lies inside.
    #[inline]
    pub fn hinted(&mut self, range: OffsetRange) -> Option<&mut Leaf> {
        let List::Many(many) = &mut self.list else {
            return None;
        };
        let Spot { group, at } = many.hint;
        let leaf = many
            .groups
            .get_mut(group as usize)?
            .leaves
            .get_mut(at as usize);
        leaf.filter(|leaf| leaf.range.covers(range))
    }

    pub fn note(&mut self, at: Spot) {
        if let List::Many(many) = &mut self.list {
            many.hint = at;
        }
    }

    /// The first leaf from `from` on that has an entry of `class`, or for holes is followed by one.
    pub fn next_with(&self, from: Spot, class: Class) -> Option<Spot> {
        match &self.list {
            List::None(_) => None,
            List::One(leaf) => (class == Class::Hole || leaf.tally.has(class)).then_some(ORIGIN),
            List::Many(many) => {
                let mut keep = u64::MAX << from.at;
                for (group, here) in many.groups.iter().enumerate().skip(from.group as usize) {
                    let found = here.maps[class as usize] & keep;
                    if found != 0 {
                        return Some(spot(group, found.trailing_zeros() as usize));
                    }
                    keep = u64::MAX;
                }
                None
            }
        }
    }

    /// The last leaf up to `from` that has an entry of `class`.
    pub fn prev_with(&self, from: Spot, class: Class) -> Option<Spot> {
        match &self.list {
            List::None(_) => None,
            List::One(leaf) => leaf.tally.has(class).then_some(ORIGIN),
            List::Many(many) => {
                let mut keep = u64::MAX >> (63 - from.at);
                for group in (0..=from.group as usize).rev() {
                    let found = many.groups.get(group)?.maps[class as usize] & keep;
                    if found != 0 {
                        return Some(spot(group, 63 - found.leading_zeros() as usize));
                    }
                    keep = u64::MAX;
                }
                None
            }
        }
    }

    /// Brings what is known of a leaf up to date.
    pub fn refresh(&mut self, at: Spot) {
        let next = self.next(at).and_then(|next| self.get(next));
        let next = next.map(|leaf| leaf.range.first);
        let List::Many(many) = &mut self.list else {
            return;
        };
        let Some(group) = many.groups.get_mut(at.group as usize) else {
            return;
        };
        let Some(leaf) = group.leaves.get(at.at as usize) else {
            return;
        };
        if at.at as usize + 1 == group.leaves.len() {
            group.last = leaf.range.last;
        }
        let gap = next.is_none_or(|next| !leaf.range.is_followed_by(next));
        let classes = leaf.tally.classes() | if gap { Class::Hole.bit() } else { 0 };
        for class in Class::ALL {
            let bit = 1 << at.at;
            let map = &mut group.maps[class as usize];
            if classes & class.bit() == 0 {
                *map &= !bit;
            } else {
                *map |= bit;
            }
        }
    }

    /// The leaves in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &Leaf> {
        let mut next = self.first();
        core::iter::from_fn(move || {
            let at = next?;
            next = self.next(at);
            self.get(at)
        })
    }

    pub fn heap_bytes(&self) -> usize {
        let around = match &self.list {
            List::None(edges) => edges.capacity() * size_of::<Edge>(),
            List::One(_) => 0,
            List::Many(many) => {
                let leaves: usize = many.groups.iter().map(|g| g.leaves.capacity()).sum();
                size_of::<Many>()
                    + many.groups.capacity() * size_of::<Group>()
                    + leaves * size_of::<Leaf>()
            }
        };
        around + self.iter().map(Leaf::heap_bytes).sum::<usize>()
    }
}

impl Many {
    fn leaf(&self, at: Spot) -> Option<&Leaf> {
        let group = self.groups.get(at.group as usize)?;
        group.leaves.get(at.at as usize)
    }
}

pub(super) const fn spot(group: usize, at: usize) -> Spot {
    Spot {
        group: group as u32,
        at: at as u32,
    }
}
