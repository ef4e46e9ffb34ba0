//! Share partitions in memory.

mod members;

use std::collections::HashMap;
use std::sync::Arc;

use share_state_core::ids::{QuickHash, SharePartitionKey};
use share_state_core::limits::ShareGroupConfig;
use share_state_core::share_session::TopicIdPartition;

use super::names::ServedId;
use super::served::{Served, Stage};
use members::Member;

/// A group, as far as members fetch and acknowledge.
#[derive(Debug)]
pub(super) struct Group {
    config: Arc<ShareGroupConfig>,
    /// Mark of a configuration of its own, and not that of groups that have none.
    is_configured: bool,
    /// Share partitions that serve or are about to.
    by_id: HashMap<TopicIdPartition, ServedId, QuickHash>,
    /// Share partitions that are over and have writes that are not settled.
    writing: HashMap<TopicIdPartition, ServedId, QuickHash>,
    members: HashMap<Arc<str>, Member, QuickHash>,
}

/// The share partitions.
///
/// Invariants: each one listed by its group serves or is about to, and stands under its own partition; one that is over is
/// not listed there, and is forgotten once nobody waits for it. One of a key at most has writes that are not settled: while that
/// one is over, the listed one does not read its state. None reads it while its partition is held.
#[derive(Debug, Default)]
pub(super) struct Partitions {
    served: HashMap<ServedId, Served, QuickHash>,
    groups: HashMap<Arc<str>, Group, QuickHash>,
    /// Numbers of holds on partitions: their states are being changed, and none is loaded.
    holds: HashMap<TopicIdPartition, usize, QuickHash>,
    default: Arc<ShareGroupConfig>,
    made: u64,
}

impl Partitions {
    pub fn new(default: Arc<ShareGroupConfig>) -> Self {
        Self {
            default,
            ..Self::default()
        }
    }

    pub fn get(&self, id: ServedId) -> Option<&Served> {
        self.served.get(&id)
    }

    pub fn get_mut(&mut self, id: ServedId) -> Option<&mut Served> {
        self.served.get_mut(&id)
    }

    /// The share partition that serves this partition to a group, or is about to.
    pub fn find(&self, group: &str, id: TopicIdPartition) -> Option<ServedId> {
        self.groups.get(group)?.by_id.get(&id).copied()
    }

    /// The share partitions of a topic that serve or are about to, for which `is_wanted`.
    pub fn listed(&self, is_wanted: impl Fn(&SharePartitionKey) -> bool) -> Vec<ServedId> {
        let listed = self.groups.values().flat_map(|group| group.by_id.values());
        let is_listed = |id: &&ServedId| {
            let served = self.served.get(*id);
            served.is_some_and(|served| is_wanted(served.engine.key()))
        };
        listed.filter(is_listed).copied().collect()
    }

    /// The share partitions of a group that serve or are about to.
    pub fn listed_in(&self, group: &str) -> Vec<ServedId> {
        let group = self.groups.get(group);
        group.map_or_else(Vec::new, |group| group.by_id.values().copied().collect())
    }

    /// The share partitions of a partition that serve or are about to.
    pub fn listed_at(&self, id: TopicIdPartition) -> Vec<ServedId> {
        let groups = self.groups.values();
        groups
            .filter_map(|group| group.by_id.get(&id))
            .copied()
            .collect()
    }

    /// Has no share partition of a partition loaded, until every hold on it is let go.
    pub fn hold(&mut self, id: TopicIdPartition) {
        *self.holds.entry(id).or_default() += 1;
    }

    /// Lets a hold on a partition go. Returns `true` if it was the last.
    pub fn let_go(&mut self, id: TopicIdPartition) -> bool {
        let Some(holds) = self.holds.get_mut(&id) else {
            return false;
        };
        *holds -= 1;
        *holds == 0 && self.holds.remove(&id).is_some()
    }

    /// Returns `true` if a share partition waits to be loaded and has nothing to wait for any more.
    pub fn may_load(&self, id: ServedId) -> bool {
        self.served.get(&id).is_some_and(|served| {
            let is_held = self.holds.contains_key(&served.id);
            let is_writing = self.is_writing(&served.engine.key().group, served.id);
            served.stage == Stage::Following && !is_held && !is_writing
        })
    }

    /// The group, made on demand.
    fn group(&mut self, name: &str) -> &mut Group {
        let name: Arc<str> = match self.groups.get_key_value(name) {
            Some((name, _)) => Arc::clone(name),
            None => Arc::from(name),
        };
        let config = &self.default;
        self.groups.entry(name).or_insert_with(|| Group {
            config: Arc::clone(config),
            is_configured: false,
            by_id: HashMap::default(),
            writing: HashMap::default(),
            members: HashMap::default(),
        })
    }

    /// Changes the configuration of a group.
    pub fn configure(&mut self, group: &str, config: Arc<ShareGroupConfig>) {
        let group = self.group(group);
        (group.config, group.is_configured) = (config, true);
    }

    /// Forgets the configuration of a group. Returns that of groups that have none; `None` if it is one of them already.
    pub fn forget_config(&mut self, group: &str) -> Option<Arc<ShareGroupConfig>> {
        let group = self.groups.get_mut(group)?;
        if !std::mem::take(&mut group.is_configured) {
            return None;
        }
        group.config = Arc::clone(&self.default);
        Some(Arc::clone(&group.config))
    }

    /// Forgets the groups of which there is nothing to know: clients make up names of groups.
    pub fn forget_groups(&mut self) {
        self.groups.retain(|_, group| {
            group.is_configured
                || !group.by_id.is_empty()
                || !group.writing.is_empty()
                || !group.members.is_empty()
        });
    }

    /// The configuration of a group.
    pub fn config(&self, group: &str) -> &Arc<ShareGroupConfig> {
        let group = self.groups.get(group);
        group.map_or(&self.default, |group| &group.config)
    }

    /// Adds a share partition that is about to serve.
    pub fn add(&mut self, served: Served) -> ServedId {
        let id = ServedId(self.made);
        self.made += 1;
        let group = Arc::clone(&served.engine.key().group);
        let was = self.group(&group).by_id.insert(served.id, id);
        debug_assert!(was.is_none(), "a partition is served once");
        self.served.insert(id, served);
        id
    }

    /// Ends the service of a share partition, with the code for those that wait for it. Returns `false` if it has ended before.
    pub fn end(&mut self, id: ServedId, code: i16) -> bool {
        let Some(served) = self.served.get_mut(&id) else {
            return false;
        };
        if served.is_over() {
            return false;
        }
        served.stage = Stage::Over(code);
        served.engine.fence();
        let (group, partition) = (Arc::clone(&served.engine.key().group), served.id);
        let has_writes = served.has_writes();
        self.forget_held(&group, id);
        if let Some(group) = self.groups.get_mut(&group) {
            group.by_id.remove(&partition);
            if has_writes {
                let was = group.writing.insert(partition, id);
                debug_assert!(was.is_none(), "the one after it has not begun");
            }
        }
        true
    }

    /// Returns `true` if a share partition of this key is over and has writes that are not settled.
    fn is_writing(&self, group: &str, id: TopicIdPartition) -> bool {
        let group = self.groups.get(group);
        group.is_some_and(|group| group.writing.contains_key(&id))
    }

    /// Takes note that a share partition which is over may have no more writes. Returns the one that has followed it.
    pub fn written(&mut self, id: ServedId) -> Option<ServedId> {
        let served = self.served.get(&id).filter(|served| !served.has_writes())?;
        let group = self.groups.get_mut(&served.engine.key().group)?;
        group
            .writing
            .remove(&served.id)
            .filter(|over| *over == id)?;
        group.by_id.get(&served.id).copied()
    }

    /// Forgets a share partition that is over, unless somebody waits for it.
    pub fn forget(&mut self, id: ServedId) -> Option<Served> {
        self.served
            .get(&id)
            .filter(|served| served.is_abandoned())?;
        self.served.remove(&id)
    }

    /// Number of groups in memory.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Every share partition in memory.
    pub fn all(&self) -> impl Iterator<Item = &Served> {
        self.served.values()
    }

    /// Number of share partitions in memory, those that are over included.
    pub fn len(&self) -> usize {
        self.served.len()
    }

    /// Panics when an invariant is broken. For tests.
    pub fn check(&self) {
        self.check_members();
        let mut listed = 0;
        for group in self.groups.values() {
            for (partition, id) in &group.by_id {
                let served = self.served.get(id);
                assert!(
                    served.is_some_and(|served| { served.id == *partition && !served.is_over() })
                );
                listed += 1;
            }
        }
        for id in self
            .groups
            .values()
            .flat_map(|group| group.writing.values())
        {
            let over = self.served.get(id);
            assert!(over.is_some_and(|over| over.has_writes() && over.is_over()));
        }
        let over = self.served.values().filter(|served| served.is_over());
        assert_eq!(listed + over.count(), self.served.len());
        for served in self.served.values() {
            assert!(!served.is_abandoned(), "{:?} is kept for nobody", served.id);
            assert!(!served.is_ready() || served.deferred.is_empty());
            let is_over = served.is_over();
            let is_writing = self.is_writing(&served.engine.key().group, served.id);
            assert!(is_writing || !is_over || !served.has_writes());
            let is_held = self.holds.contains_key(&served.id);
            match served.stage {
                Stage::Over(_) => {}
                Stage::Following => assert!(is_writing || is_held),
                // One that knows nothing of what is changed serves on.
                Stage::Ready => assert!(!is_writing),
                _ => assert!(!is_writing && !is_held),
            }
            assert!(served.engine.check().is_ok());
        }
    }
}
