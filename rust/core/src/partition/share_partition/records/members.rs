//! Member ids, each kept once; the store knows members by number.

use std::collections::HashMap;

use crate::partition::in_flight::{InFlightStore, MemberIndex};
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::records::member_name::MemberName;
use crate::util::quick_hash::QuickHash;

/// The members that hold, or lately held, records. Most share partitions have one member at a time, whose name then stands here.
#[derive(Clone, Debug, Default)]
pub(in crate::partition::share_partition) enum Members {
    #[default]
    None,
    /// Number 0.
    One(MemberName),
    Many(Box<Many>),
}

const _: () = assert!(
    size_of::<Members>() == 24,
    "one member takes no more than its name"
);

#[derive(Clone, Debug)]
pub(in crate::partition::share_partition) struct Many {
    names: Vec<Option<MemberName>>,
    /// The member last found. Members acknowledge many times in a row, and one comparison is cheaper than any search.
    latest: u32,
    /// Number of names that are known.
    known: u32,
    /// Number of known names at which those are forgotten that hold nothing.
    sweep_at: u32,
    /// Made when there are too many names to look at each.
    index: Option<Box<Index>>,
}

#[derive(Clone, Debug, Default)]
struct Index {
    by_name: HashMap<MemberName, MemberIndex, QuickHash>,
    free: Vec<MemberIndex>,
}

/// Number of names up to which they are looked at one by one.
const FEW: usize = 8;

impl Members {
    #[inline]
    pub(in crate::partition::share_partition) fn find(
        &mut self,
        name: &str,
    ) -> Option<MemberIndex> {
        match self {
            Self::None => None,
            Self::One(known) => known.is(name).then_some(MemberIndex(0)),
            Self::Many(many) => many.find(name),
        }
    }

    /// A word of each name that is looked at one by one, mixed.
    pub(in crate::partition::share_partition) fn preload(&self) -> u64 {
        match self {
            Self::None | Self::One(_) => 0,
            Self::Many(many) => {
                let names = many.names.iter().take(FEW);
                names.filter(|name| name.is_some()).count() as u64
            }
        }
    }

    pub(in crate::partition::share_partition) fn name(&self, member: MemberIndex) -> &str {
        let name = match self {
            Self::None => None,
            Self::One(name) => (member.0 == 0).then_some(name),
            Self::Many(many) => many.names.get(member.0 as usize).and_then(Option::as_ref),
        };
        name.map_or("", MemberName::as_str)
    }

    /// The number of a member. Members that hold nothing (`is_idle`) are forgotten whenever their number has doubled, so that
    /// a group whose members come and go keeps the size of its present.
    #[inline]
    pub(in crate::partition::share_partition) fn intern(
        &mut self,
        name: &str,
        is_idle: impl Fn(MemberIndex) -> bool,
    ) -> MemberIndex {
        if let Some(member) = self.find(name) {
            return member;
        }
        self.add(MemberName::new(name), is_idle)
    }

    #[inline(never)]
    fn add(&mut self, name: MemberName, is_idle: impl Fn(MemberIndex) -> bool) -> MemberIndex {
        match self {
            Self::Many(many) => many.add(name, is_idle),
            Self::One(first) if !is_idle(MemberIndex(0)) => {
                let names = vec![Some(first.clone()), Some(name)];
                *self = Self::Many(Box::new(Many {
                    names,
                    latest: 1,
                    known: 2,
                    sweep_at: 2,
                    index: None,
                }));
                MemberIndex(1)
            }
            Self::None | Self::One(_) => {
                *self = Self::One(name);
                MemberIndex(0)
            }
        }
    }
}

impl Many {
    fn find(&mut self, name: &str) -> Option<MemberIndex> {
        let latest = self.names.get(self.latest as usize);
        if latest.is_some_and(|known| is(known, name)) {
            return Some(MemberIndex(self.latest));
        }
        self.search(name)
    }

    #[inline(never)]
    fn search(&mut self, name: &str) -> Option<MemberIndex> {
        let found = match &self.index {
            Some(index) => *index.by_name.get(name.as_bytes())?,
            None => MemberIndex(self.names.iter().position(|known| is(known, name))? as u32),
        };
        self.latest = found.0;
        Some(found)
    }

    fn add(&mut self, name: MemberName, is_idle: impl Fn(MemberIndex) -> bool) -> MemberIndex {
        if self.known >= self.sweep_at {
            self.sweep(is_idle);
        }
        let free = match &mut self.index {
            Some(index) => index.free.pop(),
            None => {
                let free = self.names.iter().position(Option::is_none);
                free.map(|at| MemberIndex(at as u32))
            }
        };
        let member = free.unwrap_or_else(|| {
            self.names.push(None);
            MemberIndex((self.names.len() - 1) as u32)
        });
        if let Some(index) = &mut self.index {
            index.by_name.insert(name.clone(), member);
        }
        self.names[member.0 as usize] = Some(name);
        self.known += 1;
        self.latest = member.0;
        if self.names.len() > FEW && self.index.is_none() {
            self.index = Some(Box::new(Index::of(&self.names)));
        }
        member
    }

    fn sweep(&mut self, is_idle: impl Fn(MemberIndex) -> bool) {
        for (known, at) in self.names.iter_mut().zip(0..) {
            let Some(name) = known.take_if(|_| is_idle(MemberIndex(at))) else {
                continue;
            };
            self.known -= 1;
            if let Some(index) = &mut self.index {
                index.by_name.remove(&name);
                index.free.push(MemberIndex(at));
            }
        }
        self.sweep_at = (2 * self.known).max(2);
    }
}

fn is(known: &Option<MemberName>, name: &str) -> bool {
    known.as_ref().is_some_and(|known| known.is(name))
}

impl Index {
    fn of(names: &[Option<MemberName>]) -> Self {
        let known = names.iter().zip(0..);
        let by_name = known.filter_map(|(name, at)| Some((name.clone()?, MemberIndex(at))));
        let free = names.iter().zip(0..).filter(|(name, _)| name.is_none());
        Self {
            free: free.map(|(_, at)| MemberIndex(at)).collect(),
            by_name: by_name.collect(),
        }
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// The number of a member that has fetched before.
    pub(in crate::partition::share_partition) fn member(
        &mut self,
        name: &str,
    ) -> Option<MemberIndex> {
        self.activity.get_mut()?.members.find(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(members: &Members) -> usize {
        match members {
            Members::None => 0,
            Members::One(_) => 1,
            Members::Many(many) => many.names.len(),
        }
    }

    #[test]
    fn members_that_hold_nothing_do_not_pile_up() {
        let mut members = Members::default();
        let busy = members.intern("busy", |_| true);
        for i in 0..10_000 {
            members.intern(&format!("m{i}"), |member| member != busy);
        }
        assert_eq!(places(&members), 2);
        assert_eq!(members.find("busy"), Some(busy));
        assert_eq!(members.name(busy), "busy");
        assert_eq!(members.find("m0"), None);
    }

    #[test]
    fn members_that_hold_something_keep_their_numbers_however_many_come() {
        for busy in [1, 2, 3, FEW, FEW + 1, 100] {
            let mut members = Members::default();
            let is_idle = |member: MemberIndex| member.0 as usize >= busy;
            let names: Vec<String> = (0..busy).map(|i| format!("busy{i}")).collect();
            for (name, at) in names.iter().zip(0..) {
                assert_eq!(members.intern(name, is_idle), MemberIndex(at));
            }
            for i in 0..1_000 {
                let name = format!("m{i}");
                let member = members.intern(&name, is_idle);
                assert_eq!(members.find(&name), Some(member));
                assert_eq!(members.name(member), name);
            }
            assert!(places(&members) <= 2 * busy, "{members:?}");
            for (name, at) in names.iter().zip(0..) {
                assert_eq!(members.find(name), Some(MemberIndex(at)));
                assert_eq!(members.name(MemberIndex(at)), name);
            }
        }
    }

    #[test]
    fn a_member_that_was_forgotten_is_not_found_in_the_place_that_another_has_now() {
        for others in [1, FEW - 1, 127] {
            let mut members = Members::default();
            let gone = members.intern("gone", |_| false);
            for i in 0..others {
                members.intern(&format!("m{i}"), |_| false);
            }
            assert_eq!(members.find("gone"), Some(gone));
            let all: Vec<MemberIndex> = (0..=others)
                .map(|i| members.intern(&format!("n{i}"), |member| member == gone))
                .collect();
            assert!(all.contains(&gone), "no place was used again");
            assert_eq!(members.find("gone"), None);
            let name = members.name(gone).to_owned();
            assert_eq!(members.find(&name), Some(gone));
            assert_eq!(members.find(&name), Some(gone));
        }
    }

    #[test]
    fn those_that_hold_nothing_are_forgotten_when_the_names_have_doubled() {
        let mut members = Members::default();
        for name in ["a", "b"] {
            assert_eq!(members.intern(name, |_| true), MemberIndex(0));
        }
        assert_eq!(places(&members), 1);
        // At four names e is forgotten, and three hold something: the next look is at six names.
        let is_idle = |member: MemberIndex| member.0 >= 3;
        for name in ["c", "d", "e", "f", "g", "h"] {
            members.intern(name, is_idle);
        }
        let known = ["d", "e", "f", "g", "h"].map(|name| members.find(name).is_some());
        assert_eq!(known, [true, false, true, true, true]);
    }
}
