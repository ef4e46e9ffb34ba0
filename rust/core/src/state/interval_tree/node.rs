//! The nodes of the tree and where they live.
//!
//! A leaf is a packed vector of runs, an inner node a packed vector of entries, one for each child. Nodes live in two
//! arenas and name each other by index, so that the tree needs neither pointers nor `unsafe`.

use super::run::{Run, RunValue};
use crate::offset::OffsetRange;

/// Summary of a child in an inner node: enough to pass it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// First offset of the first run to last offset of the last.
    pub range: OffsetRange,
    /// The child, in the arena of its level.
    pub child: u32,
    /// The classes that any run below belongs to.
    pub classes: u8,
    /// Set if the runs below leave no hole inside `range`.
    pub contiguous: bool,
}

/// Item of a node.
pub(super) trait Item: Copy {
    /// The offsets it covers.
    fn range(&self) -> OffsetRange;
    /// The classes below.
    fn classes(&self) -> u8;
    /// Returns `true` if the offsets it covers are without a hole.
    fn contiguous(&self) -> bool;
}

impl Item for Entry {
    fn range(&self) -> OffsetRange {
        self.range
    }
    fn classes(&self) -> u8 {
        self.classes
    }
    fn contiguous(&self) -> bool {
        self.contiguous
    }
}

impl<V: RunValue> Item for Run<V> {
    fn range(&self) -> OffsetRange {
        self.range
    }
    fn classes(&self) -> u8 {
        self.value.classes()
    }
    fn contiguous(&self) -> bool {
        true
    }
}

/// The entry that stands for a node of `items`; `None` for an empty node.
pub(super) fn summary<T: Item>(child: u32, items: &[T]) -> Option<Entry> {
    let (head, rest) = items.split_first()?;
    let (mut classes, mut contiguous) = (head.classes(), head.contiguous());
    let mut before = head.range();
    for item in rest {
        let range = item.range();
        classes |= item.classes();
        contiguous &= item.contiguous() & before.is_followed_by(range.first);
        before = range;
    }
    Some(Entry {
        range: OffsetRange {
            first: head.range().first,
            last: before.last,
        },
        child,
        classes,
        contiguous,
    })
}

/// Number of items that are looked at together.
const BLOCK: usize = 8;

/// Number of items before the first of which `is_before` does not hold: by the last items of blocks of [`BLOCK`], then in
/// the one block that is left. Unlike the steps of a binary search, the looks of each round do not wait for one another, so
/// a node that no cache holds costs two waits.
#[inline]
pub(super) fn count_before<T>(items: &[T], is_before: impl Fn(&T) -> bool) -> usize {
    let (blocks, _) = items.as_chunks::<BLOCK>();
    let passed = BLOCK * blocks.iter().filter(|[.., last]| is_before(last)).count();
    let block = items.iter().skip(passed).take(BLOCK);
    passed + block.filter(|item| is_before(item)).count()
}

/// Index of the first item that holds `offset` or lies after it.
#[inline]
pub(super) fn reaching<T: Item>(items: &[T], offset: i64) -> usize {
    count_before(items, |item| item.range().last < offset)
}

/// Number of items that begin at or before `offset`.
#[inline]
pub(super) fn beginning<T: Item>(items: &[T], offset: i64) -> usize {
    count_before(items, |item| item.range().first <= offset)
}

/// The items that `range` touches: index of the first, and of the first after them.
pub(super) fn touching<T: Item>(items: &[T], range: OffsetRange) -> (usize, usize) {
    let from = reaching(items, range.first);
    // Mostly none or one, so the end is near.
    let to = match &items[from..] {
        [first, ..] if first.range().first > range.last => from,
        [first, ..] if first.range().last >= range.last => from + 1,
        rest => from + beginning(rest, range.last),
    };
    (from, to)
}

/// Number of items by which a node may exceed the fan-out before it is split: changing a range can cut one run at
/// either end of it.
pub(super) const SLACK: usize = 2;

/// Makes room for `extra` items. A root grows by doubling, as most trees are a root with a few runs; no node is ever
/// given room for more than the fan-out and the slack.
pub(super) fn reserve<T>(items: &mut Vec<T>, extra: usize, fan_out: usize) {
    let need = items.len() + extra;
    if need > items.capacity() {
        let room = need.next_power_of_two().clamp(4, fan_out + SLACK).max(need);
        items.reserve_exact(room - items.len());
    }
}

/// The nodes of one kind.
#[derive(Clone, Debug)]
pub(super) struct Arena<T> {
    nodes: Vec<Vec<T>>,
    free: Vec<u32>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T: Item> Arena<T> {
    /// Takes in a node. A node fills hundreds of bytes, so that memory ends long before `u32` does.
    pub fn add(&mut self, node: Vec<T>) -> u32 {
        if let Some(id) = self.free.pop() {
            self.nodes[id as usize] = node;
            return id;
        }
        if self.nodes.is_empty() {
            self.nodes.reserve_exact(1);
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Takes the node out; its index is used again.
    pub fn take(&mut self, id: u32) -> Vec<T> {
        self.free.push(id);
        std::mem::take(&mut self.nodes[id as usize])
    }

    pub fn get(&self, id: u32) -> &[T] {
        &self.nodes[id as usize]
    }

    pub fn get_mut(&mut self, id: u32) -> &mut Vec<T> {
        &mut self.nodes[id as usize]
    }

    pub fn summary(&self, id: u32) -> Option<Entry> {
        summary(id, self.get(id))
    }

    /// Moves the items from `at` on into a new node.
    pub fn split(&mut self, id: u32, at: usize, fan_out: usize) -> u32 {
        let node = &mut self.nodes[id as usize];
        let mut right = Vec::with_capacity(fan_out + SLACK);
        right.extend_from_slice(&node[at..]);
        node.truncate(at);
        self.add(right)
    }

    /// Moves all items of `right` after those of `left`.
    pub fn absorb(&mut self, left: u32, right: u32, fan_out: usize) {
        let moved = self.take(right);
        let node = &mut self.nodes[left as usize];
        reserve(node, moved.len(), fan_out);
        node.extend_from_slice(&moved);
    }

    /// Number of nodes in use or to be used again.
    pub fn slots(&self) -> usize {
        self.nodes.len()
    }

    /// Number of nodes in use.
    pub fn used(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    pub fn heap_bytes(&self) -> usize {
        let items: usize = self.nodes.iter().map(Vec::capacity).sum();
        items * size_of::<T>()
            + self.nodes.capacity() * size_of::<Vec<T>>()
            + self.free.capacity() * size_of::<u32>()
    }
}
