//! Member ids, each kept once; the store knows members by number.

use std::collections::HashMap;

use super::SharePartition;
use super::member_name::MemberName;
use crate::in_flight::{InFlightStore, MemberIndex};
use crate::quick_hash::QuickHash;

/// The members that hold, or lately held, records.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    names: Vec<Option<MemberName>>,
    /// The member last found. Members acknowledge many times in a row, and one comparison is cheaper than any search.
    latest: u32,
    /// Made when there are too many names to look at each.
    index: Option<Box<Index>>,
}

#[derive(Clone, Debug, Default)]
struct Index {
    by_name: HashMap<MemberName, MemberIndex, QuickHash>,
    free: Vec<MemberIndex>,
    sweep_at: usize,
}

/// So many names are looked at one by one.
const FEW: usize = 4;
/// Fewer members than this are never worth a sweep.
const SWEEP_FROM: usize = 64;

impl Members {
    pub(super) fn find(&mut self, name: &str) -> Option<MemberIndex> {
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

    pub(super) fn name(&self, member: MemberIndex) -> &str {
        self.names
            .get(member.0 as usize)
            .and_then(Option::as_ref)
            .map_or("", MemberName::as_str)
    }

    /// The number of a member. Members that hold nothing (`is_idle`) are forgotten whenever their number has doubled, so that
    /// a group whose members come and go keeps the size of its present.
    pub(super) fn intern(
        &mut self,
        name: &str,
        is_idle: impl Fn(MemberIndex) -> bool,
    ) -> MemberIndex {
        if let Some(member) = self.find(name) {
            return member;
        }
        self.add(name, is_idle)
    }

    #[inline(never)]
    fn add(&mut self, name: &str, is_idle: impl Fn(MemberIndex) -> bool) -> MemberIndex {
        let name = MemberName::new(name);
        let Some(index) = &mut self.index else {
            let member = push(&mut self.names, name);
            if self.names.len() > FEW {
                self.index = Some(Box::new(Index::of(&self.names)));
            }
            return member;
        };
        if index.by_name.len() >= index.sweep_at.max(SWEEP_FROM) {
            index.sweep(&mut self.names, is_idle);
        }
        let member = match index.free.pop() {
            Some(member) => {
                self.names[member.0 as usize] = Some(name.clone());
                member
            }
            None => push(&mut self.names, name.clone()),
        };
        index.by_name.insert(name, member);
        member
    }
}

fn is(known: &Option<MemberName>, name: &str) -> bool {
    known.as_ref().is_some_and(|known| known.is(name))
}

/// Most share partitions have one member, or a few.
fn push(names: &mut Vec<Option<MemberName>>, name: MemberName) -> MemberIndex {
    if names.len() < FEW {
        names.reserve_exact(1);
    }
    names.push(Some(name));
    MemberIndex((names.len() - 1) as u32)
}

impl Index {
    fn of(names: &[Option<MemberName>]) -> Self {
        let known = names.iter().zip(0..);
        let by_name = known.filter_map(|(name, at)| Some((name.clone()?, MemberIndex(at))));
        Self {
            by_name: by_name.collect(),
            ..Self::default()
        }
    }

    fn sweep(&mut self, names: &mut [Option<MemberName>], is_idle: impl Fn(MemberIndex) -> bool) {
        let free = &mut self.free;
        self.by_name.retain(|_, member| {
            let keep = !is_idle(*member);
            if !keep {
                names[member.0 as usize] = None;
                free.push(*member);
            }
            keep
        });
        self.sweep_at = 2 * self.by_name.len();
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// The number of a member that has fetched before.
    pub(super) fn member(&mut self, name: &str) -> Option<MemberIndex> {
        self.activity.get_mut()?.members.find(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_hold_nothing_do_not_pile_up() {
        let mut members = Members::default();
        let busy = members.intern("busy", |_| true);
        for i in 0..10_000 {
            members.intern(&format!("m{i}"), |member| member != busy);
        }
        assert!(
            members.names.len() <= 2 * SWEEP_FROM,
            "{}",
            members.names.len()
        );
        assert_eq!(members.find("busy"), Some(busy));
        assert_eq!(members.name(busy), "busy");
        assert_eq!(members.find("m0"), None);
    }

    #[test]
    fn a_member_that_was_forgotten_is_not_found_in_the_place_that_another_has_now() {
        let mut members = Members::default();
        let gone = members.intern("gone", |_| true);
        assert_eq!(members.find("gone"), Some(gone));
        let all: Vec<MemberIndex> = (0..2 * SWEEP_FROM - 1)
            .map(|i| members.intern(&format!("m{i}"), |_| true))
            .collect();
        assert!(all.contains(&gone), "no place was used again");
        assert_eq!(members.find("gone"), None);
        let name = members.name(gone).to_owned();
        assert_eq!(members.find(&name), Some(gone));
        assert_eq!(members.find(&name), Some(gone));
    }
}
