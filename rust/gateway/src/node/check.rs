//! Invariants of a node, for tests.

use std::collections::HashSet;

use super::Node;
use super::requests::Work;
use super::served::Served;

impl Node {
    /// Panics when an invariant is broken. For tests, between two calls.
    #[doc(hidden)]
    pub fn check(&self) {
        assert!(self.wakes.is_empty() && self.done.is_empty());
        self.sessions.check();
        self.partitions.check();
        let sessions = self.sessions.sessions();
        let sessions: HashSet<_> = sessions.map(|one| (one.group, one.member)).collect();
        for member in self.partitions.members() {
            assert!(sessions.contains(&member), "{member:?} has no session");
        }
        let mut timers = 0;
        let mut waiting = 0;
        let mut places = 0;
        let mut held = 0;
        let mut queued = 0;
        for (connection, found) in &self.connections {
            held += found.unread;
            queued += found.inlet.waiting();
            found.inlet.check();
            let request = match &found.work {
                None | Some(Work::Elsewhere | Work::LookingUp(_)) => continue,
                Some(Work::Late { .. }) => {
                    timers += 1;
                    continue;
                }
                Some(Work::Share(request)) => request,
            };
            assert!(!request.is_done(), "a request that is done was answered");
            if let Some(fetch) = &request.fetch {
                let reserved = fetch.deliveries.iter().map(|(_, given)| given.nbytes());
                assert_eq!(reserved.sum::<usize>(), fetch.reserved);
                held += fetch.reserved;
                assert_eq!(fetch.is_over, !fetch.is_waiting());
                if fetch.is_waiting() {
                    waiting += 1;
                    let at = self.partitions.waiting(&request.group, &request.member);
                    assert_eq!(at, Some(*connection));
                }
                places += fetch.partitions.len();
                for id in &fetch.partitions {
                    let served = self.partitions.get(*id);
                    let at = served.and_then(|served| served.waiting.get(&request.request));
                    assert_eq!(at, Some(connection));
                }
            }
        }
        assert_eq!(held, self.answers.held());
        assert_eq!(queued, self.queued);
        assert_eq!(waiting, self.partitions.waiting_members());
        timers += waiting;
        timers += self
            .partitions
            .all()
            .filter(|served| served.timer.is_some())
            .count();
        assert_eq!(timers, self.timers.len());
        // Each place at which a fetch waits was found above, so one more would be nobody's.
        let listed = self.partitions.all().map(|served| served.waiting.len());
        assert_eq!(places, listed.sum::<usize>());
        let in_round = self.partitions.all().map(|served| served.in_round);
        assert_eq!(in_round.sum::<usize>(), self.rounds.under_way());
        let dirty = self.partitions.all().filter(|served| served.is_dirty);
        assert_eq!(dirty.count(), self.rounds.to_come());
        for served in self.rounds.keeps() {
            let served = self.partitions.get(served);
            assert!(served.is_some_and(Served::is_ready));
        }
        for served in self.partitions.all() {
            assert!(!served.is_woken);
            if served.is_ready()
                && let Some(deadline) = served.engine.poll_timeout()
            {
                assert!(served.timer.is_some_and(|(at, _)| at <= deadline));
            }
            assert!(served.is_dirty || served.engine.writes_to_poll() == 0 || !served.is_ready());
        }
    }

    /// Number of groups, of members that hold records or wait, of fetches that wait for room, and of reads that are wanted.
    #[doc(hidden)]
    #[must_use]
    pub fn remains(&self) -> [usize; 4] {
        let (groups, members) = (self.partitions.group_count(), self.partitions.members());
        let (starved, wanted) = (self.starved.len(), self.sources.wanted());
        [groups, members.count(), starved, wanted]
    }

    /// Number of share partitions, rings and timers in memory.
    #[doc(hidden)]
    #[must_use]
    pub fn sizes(&self) -> (usize, usize, usize) {
        (self.partitions.len(), self.sources.len(), self.timers.len())
    }
}
