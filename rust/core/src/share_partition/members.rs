//! Member ids, each kept once; the store knows members by number.

use std::collections::HashMap;
use std::sync::Arc;

use crate::in_flight::MemberIndex;

/// The members that hold, or lately held, records.
#[derive(Clone, Debug)]
pub(super) struct Members {
    index: HashMap<Arc<str>, MemberIndex>,
    names: Vec<Option<Arc<str>>>,
    free: Vec<MemberIndex>,
    sweep_at: usize,
    /// The member last found. Members acknowledge many times in a row, and one comparison is much cheaper than the hash,
    /// which must withstand ids that are chosen to collide.
    latest: MemberIndex,
}

/// Fewer members than this are never worth a sweep.
const SWEEP_FROM: usize = 64;

impl Default for Members {
    fn default() -> Self {
        Self {
            index: HashMap::new(),
            names: Vec::new(),
            free: Vec::new(),
            sweep_at: 0,
            latest: MemberIndex(0),
        }
    }
}

impl Members {
    pub(super) fn find(&mut self, name: &str) -> Option<MemberIndex> {
        let latest = self.names.get(self.latest.0 as usize);
        if latest.and_then(Option::as_deref) == Some(name) {
            return Some(self.latest);
        }
        self.latest = *self.index.get(name)?;
        Some(self.latest)
    }

    pub(super) fn name(&self, member: MemberIndex) -> &str {
        self.names
            .get(member.0 as usize)
            .and_then(Option::as_deref)
            .unwrap_or("")
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
        if self.index.len() >= self.sweep_at.max(SWEEP_FROM) {
            self.sweep(is_idle);
        }
        let name: Arc<str> = Arc::from(name);
        let member = self.free.pop().unwrap_or_else(|| {
            self.names.push(None);
            MemberIndex((self.names.len() - 1) as u32)
        });
        self.names[member.0 as usize] = Some(Arc::clone(&name));
        self.index.insert(name, member);
        member
    }

    fn sweep(&mut self, is_idle: impl Fn(MemberIndex) -> bool) {
        let (names, free) = (&mut self.names, &mut self.free);
        self.index.retain(|_, member| {
            let keep = !is_idle(*member);
            if !keep {
                names[member.0 as usize] = None;
                free.push(*member);
            }
            keep
        });
        self.sweep_at = 2 * self.index.len();
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
