//! A share partition on its way to service: its state is read, a start offset is found and kept if it has none.
//!
//! A state is read in the leader epoch of its slot, which fences every earlier one. A share partition that the store fences, or
//! whose topic is gone, is dropped, and the next request loads it again. It is loaded once the writes under way are settled: a
//! state that is read before them would have records given again whose end is confirmed later. Kafka reads it at once. While the
//! states of a partition are changed elsewhere none of them is read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{ReadStateResult, WriteState};
use share_state_core::share_partition::{InitializeError, Initialized, SharePartition};
use share_state_core::share_session::TopicIdPartition;
use share_state_core::time::LockTime;

use super::Node;
use super::codes::OFFSET_NOT_AVAILABLE;
use super::events::{Event, Need};
use super::names::ServedId;
use super::names::SourceKey;
use super::served::{Served, Stage};

impl Node {
    /// The share partition of a group, which begins to be loaded where it is not in memory. `None` where none can be made.
    pub(super) fn serve(
        &mut self,
        group: &Arc<str>,
        id: TopicIdPartition,
        now: LockTime,
    ) -> Option<ServedId> {
        if let Some(found) = self.partitions.find(group, id) {
            if let Some(served) = self.partitions.get_mut(found) {
                served.used_at = now;
            }
            return Some(found);
        }
        let config = Arc::clone(self.partitions.config(group));
        let source = SourceKey {
            id,
            isolation: config.isolation_level,
        };
        let key = SharePartitionKey {
            group: Arc::clone(group),
            topic_id: id.topic_id,
            partition: id.partition,
        };
        let leader_epoch = self.slots.of(id).leader_epoch;
        let mut engine = SharePartition::new(key, leader_epoch, config).ok()?;
        engine.begin_initialize().ok()?;
        let served = self.partitions.add(Served {
            id,
            engine,
            source,
            stage: Stage::Following,
            is_failed: false,
            waiting: BTreeMap::new(),
            is_woken: false,
            settling: HashMap::default(),
            deferred: Vec::new(),
            in_round: 0,
            is_dirty: false,
            timer: None,
            used_at: now,
        });
        self.sources.join(source, served);
        if self.partitions.may_load(served) {
            self.begin_load(served);
        }
        Some(served)
    }

    /// Has the state of a share partition read, now that no write of an earlier one can change it any more.
    pub(super) fn begin_load(&mut self, served: ServedId) {
        if let Some(found) = self.partitions.get_mut(served) {
            found.stage = Stage::Reading;
            self.needs.push_back(Need::State {
                served,
                key: found.engine.key().clone(),
                leader_epoch: found.engine.leader_epoch(),
            });
        }
    }

    /// Takes the state of a share partition, or the code for which it could not be read. One that was dropped meanwhile takes
    /// nothing.
    pub fn state_read(
        &mut self,
        served: ServedId,
        read: Result<ReadStateResult, KafkaCode>,
        now: LockTime,
    ) {
        let Some(found) = self.partitions.get_mut(served) else {
            return;
        };
        if found.stage != Stage::Reading {
            return;
        }
        let source = found.source;
        let begun = match read {
            Ok(state) => found.engine.initialize(state),
            Err(refused) => Err(found.engine.initialize_failed(refused)),
        };
        match begun {
            Ok(Initialized::Active) => self.begin_service(served, now),
            Ok(Initialized::NeedsStartOffset(strategy)) => {
                found.stage = Stage::Finding;
                self.needs.push_back(Need::Start {
                    served,
                    source,
                    strategy,
                });
            }
            Err(error) => self.fail_load(served, code_of(&error), Some(error)),
        }
        self.run(now);
    }

    /// Takes the start offset of a share partition; `None` where none could be found.
    pub fn start_found(&mut self, served: ServedId, start_offset: Option<i64>, now: LockTime) {
        let Some(found) = self.partitions.get_mut(served) else {
            return;
        };
        if found.stage != Stage::Finding {
            return;
        }
        let Some(start_offset) = start_offset else {
            self.fail_load(served, OFFSET_NOT_AVAILABLE, None);
            self.run(now);
            return;
        };
        match found.engine.resolve_start_offset(start_offset) {
            Ok(_) => {
                // Kept at once: after a restart "latest" would be another offset, and the records between would be lost.
                found.stage = Stage::Keeping;
                self.mark_dirty(served);
            }
            Err(error) => self.fail_load(served, code_of(&error), Some(error)),
        }
        self.run(now);
    }

    /// Takes the answer to the write of a start offset.
    pub(super) fn start_kept(&mut self, served: ServedId, answer: KafkaCode, now: LockTime) {
        let stage = self.partitions.get(served).map(|served| served.stage);
        if stage != Some(Stage::Keeping) {
            return;
        }
        match answer {
            KafkaCode::None => self.begin_service(served, now),
            refused => self.fail_load(served, refused.code(), None),
        }
    }

    fn fail_load(&mut self, served: ServedId, code: i16, cause: Option<InitializeError>) {
        if let Some(found) = self.partitions.get_mut(served) {
            found.is_failed = true;
        }
        self.end_service(served, code, cause);
    }

    fn begin_service(&mut self, served: ServedId, now: LockTime) {
        let Some(found) = self.partitions.get_mut(served) else {
            return;
        };
        found.stage = Stage::Ready;
        let log_start_offset = self
            .sources
            .get(found.source)
            .map_or(0, |source| source.log_start_offset);
        found.engine.move_log_start_offset(log_start_offset);
        let (id, deferred) = (found.id, std::mem::take(&mut found.deferred));
        self.events.push_back(Event::Loaded {
            served,
            key: found.engine.key().clone(),
            code: KafkaCode::None.code(),
            cause: None,
        });
        // Records on their way to a dead-letter queue when the gateway ended are written once more.
        self.changed(served);
        for one in deferred {
            self.take_up(one, id, now);
        }
    }

    /// Ends the service of a share partition; those that wait for it are told why.
    pub(super) fn drop_served(&mut self, served: ServedId, code: i16) {
        self.end_service(served, code, None);
    }

    fn end_service(&mut self, served: ServedId, code: i16, cause: Option<InitializeError>) {
        let was_loading = self
            .partitions
            .get(served)
            .is_some_and(|found| !found.is_ready());
        if !self.partitions.end(served, code) {
            return;
        }
        let Some(found) = self.partitions.get_mut(served) else {
            return;
        };
        if was_loading {
            self.events.push_back(Event::Loaded {
                served,
                key: found.engine.key().clone(),
                code,
                cause,
            });
        }
        let (source, timer) = (found.source, found.timer.take());
        let deferred = std::mem::take(&mut found.deferred);
        self.sources.leave(source, served);
        if let Some(timer) = timer {
            self.timers.take_back(timer);
        }
        for one in deferred {
            let code = if code == 0 {
                KafkaCode::InvalidRecordState.code()
            } else {
                code
            };
            self.tell(one.waiter, code);
        }
        for ticket in self.rounds.give_up(served) {
            self.tell_kept(ticket, None);
        }
        self.wake_later(served);
        self.partitions.forget(served);
    }
}

/// The write that keeps the start offset of a share partition.
pub(super) fn start_write(engine: &SharePartition) -> WriteState {
    WriteState {
        state_epoch: engine.state_epoch(),
        leader_epoch: engine.leader_epoch(),
        start_offset: engine.start_offset(),
        delivery_complete_count: i32::try_from(engine.delivery_complete_count())
            .unwrap_or(i32::MAX),
        state_batches: Vec::new(),
    }
}

const fn code_of(error: &InitializeError) -> i16 {
    match error {
        InitializeError::Persister(code) => code.code(),
        _ => KafkaCode::UnknownServerError.code(),
    }
}
