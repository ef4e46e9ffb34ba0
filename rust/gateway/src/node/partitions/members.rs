//! Members of groups: which holds records of which share partition, and which waits.

use std::collections::BTreeSet;
use std::sync::Arc;

use share_state_core::share_session::ConnectionId;

use super::{Group, Partitions};
use crate::node::names::ServedId;

/// A member, as long as it holds records or waits for some.
#[derive(Debug, Default)]
pub(super) struct Member {
    /// Share partitions of which it was given records since its session began. Each serves.
    held: BTreeSet<ServedId>,
    /// Connection of the fetch that it waits for.
    waiting: Option<ConnectionId>,
}

impl Partitions {
    /// Notes that a member was given records.
    pub fn holds(&mut self, group: &str, member: &Arc<str>, id: ServedId) {
        self.member(group, member).held.insert(id);
    }

    /// Takes the list of what a member was given records of.
    pub fn take_held(&mut self, group: &str, member: &str) -> BTreeSet<ServedId> {
        let member_of = |group: &mut Group| {
            let of = group.members.get_mut(member)?;
            let held = std::mem::take(&mut of.held);
            if of.waiting.is_none() {
                group.members.remove(member);
            }
            Some(held)
        };
        let group = self.groups.get_mut(group);
        group.and_then(member_of).unwrap_or_default()
    }

    /// Takes note that a share partition of a group serves no more: its locks are gone.
    pub(super) fn forget_held(&mut self, group: &str, id: ServedId) {
        let Some(group) = self.groups.get_mut(group) else {
            return;
        };
        group.members.retain(|_, member| {
            !member.held.remove(&id) || !member.held.is_empty() || member.waiting.is_some()
        });
    }

    /// Notes the connection on which a member waits, which waits on no other.
    pub fn waits(&mut self, group: &str, member: &Arc<str>, connection: ConnectionId) {
        let waiting = &mut self.member(group, member).waiting;
        debug_assert!(waiting.is_none(), "a member has one fetch that waits");
        *waiting = Some(connection);
    }

    /// The connection on which a member waits.
    pub fn waiting(&self, group: &str, member: &str) -> Option<ConnectionId> {
        self.groups.get(group)?.members.get(member)?.waiting
    }

    /// Every member that holds records or waits, with its group.
    pub fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        let groups = self.groups.iter();
        groups.flat_map(|(group, of)| of.members.keys().map(move |member| (&**group, &**member)))
    }

    /// Number of members that wait.
    pub fn waiting_members(&self) -> usize {
        let members = self
            .groups
            .values()
            .flat_map(|group| group.members.values());
        members.filter(|member| member.waiting.is_some()).count()
    }

    /// Notes that a member does not wait on a connection any more. It may wait on another by now.
    pub fn stops_waiting(&mut self, group: &str, member: &str, connection: ConnectionId) {
        let Some(group) = self.groups.get_mut(group) else {
            return;
        };
        if let Some(of) = group.members.get_mut(member)
            && of
                .waiting
                .take_if(|waiting| *waiting == connection)
                .is_some()
            && of.held.is_empty()
        {
            group.members.remove(member);
        }
    }

    /// Panics when an invariant is broken. For tests.
    pub(super) fn check_members(&self) {
        for group in self.groups.values() {
            for member in group.members.values() {
                assert!(member.waiting.is_some() || !member.held.is_empty());
                let listed = |id| group.by_id.values().any(|listed| listed == id);
                assert!(member.held.iter().all(listed));
            }
        }
    }

    fn member(&mut self, group: &str, member: &Arc<str>) -> &mut Member {
        let members = &mut self.group(group).members;
        members.entry(Arc::clone(member)).or_default()
    }
}
