//! Snapshots of the control plane, which it swaps whole: topics, access, slots, configurations.

use std::sync::Arc;

use share_state_core::ids::TopicId;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::{ConfigError, ShareGroupConfig};
use share_state_core::time::LockTime;

use super::Node;
use super::access::Access;
use super::names::SourceKey;
use super::slots::Slots;
use super::topics::Topics;

impl Node {
    /// Swaps the rules of access.
    pub fn set_access(&mut self, access: Access) {
        self.access = access;
    }

    /// Swaps the topics. The share partitions of one that is not among them stay: the broker that was asked may have just started.
    pub fn set_topics(&mut self, topics: Topics) {
        self.topics = topics;
    }

    /// Drops the share partitions of a topic that was deleted, and tells those that wait for them so.
    pub fn topic_deleted(&mut self, topic_id: TopicId, now: LockTime) {
        for served in self.partitions.listed(|key| key.topic_id == topic_id) {
            self.drop_served(served, KafkaCode::UnknownTopicId.code());
        }
        self.run(now);
    }

    /// Swaps the slots. The share partitions of one that is elsewhere, or in another leader epoch, are dropped.
    pub fn set_slots(&mut self, slots: Slots, now: LockTime) {
        self.slots = slots;
        for id in self.partitions.listed(|_| true) {
            let Some(served) = self.partitions.get(id) else {
                continue;
            };
            let slot = self.slots.of(served.id);
            if !slot.is_here() || slot.leader_epoch != served.engine.leader_epoch() {
                self.drop_served(id, KafkaCode::NotLeaderOrFollower.code());
            }
        }
        self.run(now);
    }

    /// Changes the configuration of a group. It counts from the next use on.
    ///
    /// # Errors
    /// The first value that cannot be used; then nothing has changed.
    pub fn configure(
        &mut self,
        group: &str,
        config: impl Into<Arc<ShareGroupConfig>>,
        now: LockTime,
    ) -> Result<(), ConfigError> {
        let config = config.into();
        config.check()?;
        self.partitions.configure(group, Arc::clone(&config));
        self.use_config(group, &config, now);
        Ok(())
    }

    /// Takes note that a group has no configuration of its own any more: that of such groups counts from the next use on.
    pub fn forget_config(&mut self, group: &str, now: LockTime) {
        if let Some(config) = self.partitions.forget_config(group) {
            self.use_config(group, &config, now);
        }
    }

    fn use_config(&mut self, group: &str, config: &Arc<ShareGroupConfig>, now: LockTime) {
        for id in self.partitions.listed_in(group) {
            let Some(served) = self.partitions.get_mut(id) else {
                continue;
            };
            let configured = served.engine.configure(Arc::clone(config));
            debug_assert!(configured.is_ok(), "it was checked");
            let source = SourceKey {
                id: served.id,
                isolation: config.isolation_level,
            };
            let before = std::mem::replace(&mut served.source, source);
            if before != source {
                self.sources.leave(before, id);
                self.sources.join(source, id);
            }
            self.changed(id);
        }
        self.run(now);
    }

    /// Drops the share partitions of a group on a topic, or of all groups on it: their states were changed elsewhere.
    pub fn state_changed(&mut self, group: Option<&str>, topic_id: TopicId, now: LockTime) {
        let listed = match group {
            Some(group) => self.partitions.listed_in(group),
            None => self.partitions.listed(|_| true),
        };
        for id in listed {
            let served = self.partitions.get(id);
            if served.is_some_and(|served| served.id.topic_id == topic_id) {
                self.drop_served(id, KafkaCode::None.code());
            }
        }
        self.run(now);
    }

    /// Acquires nothing more: the store takes no writes until it is opened again, and records given out could never be settled.
    pub fn store_closed(&mut self) {
        self.is_closed = true;
    }

    /// Forgets share partitions that no request has named since a time, and that hold nothing, and gives back memory of rings.
    pub fn sweep(&mut self, silent_since: LockTime, now: LockTime) {
        for id in self.partitions.listed(|_| true) {
            let is_quiet = self.partitions.get(id).is_some_and(|served| {
                served.used_at < silent_since
                    && served.is_ready()
                    && served.waiting.is_empty()
                    && served.settling.is_empty()
                    && served.engine.poll_timeout().is_none()
                    && served.engine.writes_under_way() == 0
            });
            if is_quiet {
                self.drop_served(id, KafkaCode::None.code());
            }
        }
        self.partitions.forget_groups();
        self.tidy_rings(now);
        self.run(now);
    }
}
