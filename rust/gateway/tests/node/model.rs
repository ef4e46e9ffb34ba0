//! Slow model of a node: the machines of the core one after the other, every log at hand, every write durable at once, nothing
//! that waits.

use std::collections::BTreeMap;

use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::{NoOpStatePersister, ReadStateResult};
use share_state_core::share_partition::{
    AcknowledgeBatch, AcquireMode, AcquireRequest, FetchedBatch, SharePartition,
};
use share_state_core::share_session::{
    Outcome, ShareFetchRequest, ShareSessions, TopicIdPartition,
};
use share_state_core::time::LockTime;
use share_state_gateway::node::Limits;

use crate::answers::{Answer, Row};
use crate::client::{Acknowledge, Acknowledged, Fetch, place};
use crate::scene::{LEADER_EPOCH, PER_BATCH, config};
use crate::world::World;

/// Batches of each log.
const BATCHES: i64 = 4;
pub const PLACES: [TopicIdPartition; 4] = [place(1, 0), place(1, 1), place(2, 2), place(1, 7)];

pub struct Model {
    sessions: ShareSessions,
    partitions: BTreeMap<TopicIdPartition, SharePartition>,
    /// The node that is to do the same.
    pub world: World,
}

impl Model {
    pub fn new() -> Self {
        let partitions = PLACES.iter().filter(|id| id.partition < 3).map(|id| {
            let key = SharePartitionKey::new("group", id.topic_id, id.partition);
            let mut partition = SharePartition::new(key, LEADER_EPOCH, config()).unwrap();
            partition
                .initialize(ReadStateResult::starting_at(0))
                .unwrap();
            // As a member that came and went before: all was delivered once.
            let log = log();
            let request = AcquireRequest::new("warm", 4, &log);
            partition.acquire(&request, LockTime(0)).unwrap();
            partition.release("warm", LockTime(0));
            partition.settle(&mut NoOpStatePersister);
            (*id, partition)
        });
        let mut world = World::new(Limits::default());
        for connection in [0, 1] {
            world.open(connection);
        }
        let partitions: BTreeMap<_, _> = partitions.collect();
        for id in partitions.keys() {
            world.produce(*id, BATCHES);
            world.warm(*id);
        }
        Self {
            sessions: ShareSessions::new(1_000),
            partitions,
            world,
        }
    }

    fn acknowledged(
        &mut self,
        member: &str,
        batches: &[Acknowledged],
    ) -> Vec<(TopicIdPartition, i16)> {
        let mut places: Vec<TopicIdPartition> = Vec::new();
        for (id, ..) in batches {
            if !places.contains(id) {
                places.push(*id);
            }
        }
        let now = self.world.now;
        let code = |id: &TopicIdPartition| {
            let of = batches.iter().filter(|(at, ..)| at == id);
            let types: Vec<[i8; 1]> = of.clone().map(|(.., kind)| [*kind as i8]).collect();
            let list: Vec<_> = of
                .zip(&types)
                .map(|((_, first, last, _), types)| AcknowledgeBatch {
                    first: *first,
                    last: *last,
                    types,
                })
                .collect();
            let Some(partition) = self.partitions.get_mut(id) else {
                return 3;
            };
            if types.contains(&[4]) {
                return 42;
            }
            let told = partition.acknowledge(member, &list, now);
            told.map_or_else(|refused| refused.kafka_code().code(), |_| 0)
        };
        let codes: Vec<_> = places.iter().map(code).collect();
        places.into_iter().zip(codes).collect()
    }

    fn end(&mut self, member: &str) {
        self.sessions.close("group", member);
        for partition in self.partitions.values_mut() {
            partition.release(member, self.world.now);
        }
        self.settle();
    }

    /// A connection of the node ends; returns the members whose sessions end with it.
    pub fn close(&mut self, connection: u64) -> Vec<String> {
        self.world.close(connection);
        let ended = self.sessions.connection_closed(connection);
        let members: Vec<_> = ended.iter().map(|key| key.member.to_string()).collect();
        for member in &members {
            self.end(member);
        }
        self.world.open(connection);
        members
    }

    /// Time passes.
    pub fn pass(&mut self, ms: i64) {
        self.world.pass(ms);
        for partition in self.partitions.values_mut() {
            partition.handle_timeout(self.world.now);
        }
        self.settle();
    }

    /// Every write is durable.
    fn settle(&mut self) {
        for partition in self.partitions.values_mut() {
            partition.settle(&mut NoOpStatePersister);
        }
    }

    pub fn acknowledge(&mut self, request: &Acknowledge) -> Answer {
        let admitted = self
            .sessions
            .acknowledge("group", &request.member, request.epoch);
        if let Err(refused) = admitted {
            return refusal(8, refused.kafka_code().code());
        }
        let codes = self.acknowledged(&request.member, &request.acknowledged);
        self.settle();
        if request.epoch == -1 {
            self.end(&request.member);
        }
        let rows = codes.into_iter().map(|(id, acknowledged)| Row {
            acknowledged,
            ..empty(id)
        });
        answer(8, rows.collect())
    }

    pub fn fetch(&mut self, connection: u64, request: &Fetch) -> Answer {
        let member = &*request.member;
        let named = [
            &request.added[..],
            &request
                .acknowledged
                .iter()
                .map(|row| row.0)
                .collect::<Vec<_>>(),
        ]
        .concat();
        let admitted = self.sessions.fetch(&ShareFetchRequest {
            group: "group",
            member,
            epoch: request.epoch,
            connection,
            added: &named,
            forgotten: &request.forgotten,
            acknowledges: !request.acknowledged.is_empty(),
        });
        let context = match admitted {
            Ok(context) => context,
            Err(refused) => return refusal(7, refused.kafka_code().code()),
        };
        let codes = self.acknowledged(member, &request.acknowledged);
        let now = self.world.now;
        let mut rows: Vec<Row> = Vec::new();
        let mut left = request.max_records;
        for id in context.partitions() {
            let Some(partition) = self.partitions.get_mut(&id) else {
                rows.push(Row {
                    error: 3,
                    ..empty(id)
                });
                continue;
            };
            if !partition.can_acquire() {
                continue;
            }
            let mut row = empty(id);
            let log: Vec<_> = log()
                .into_iter()
                .filter(|batch| batch.last_offset >= partition.next_fetch_offset())
                .collect();
            if left > 0 && !log.is_empty() {
                let wanted = AcquireRequest {
                    mode: AcquireMode::RecordLimit,
                    fetch_offset: partition.next_fetch_offset(),
                    ..AcquireRequest::new(member, left, &log)
                };
                let acquired = partition.acquire(&wanted, now).unwrap();
                let offsets: u64 = acquired.iter().map(|one| one.range.len()).sum();
                left -= offsets as i32;
                let ranges = acquired
                    .iter()
                    .map(|one| (one.range.first, one.range.last, one.delivery_count));
                row.acquired = ranges.collect();
            }
            rows.push(row);
        }
        // The writes of the acknowledgements are made while records are acquired, so nothing that is given back is given out.
        self.settle();
        if request.epoch == -1 {
            self.end(member);
        }
        for (id, acknowledged) in &codes {
            match rows.iter_mut().find(|row| row.id == *id) {
                Some(row) => row.acknowledged = *acknowledged,
                None => rows.push(Row {
                    acknowledged: *acknowledged,
                    ..empty(*id)
                }),
            }
        }
        let outcomes: Vec<_> = rows
            .iter()
            .map(|row| Outcome {
                id: row.id,
                has_records: !row.acquired.is_empty(),
                has_error: row.error != 0,
                acknowledged: codes.iter().any(|(id, _)| *id == row.id),
            })
            .collect();
        let listed = self.sessions.answer(&context, &outcomes).unwrap();
        let rows = rows
            .into_iter()
            .zip(listed)
            .filter(|(_, is_listed)| *is_listed);
        answer(7, rows.map(|(row, _)| row).collect())
    }
}

fn log() -> Vec<FetchedBatch> {
    let batch = |at: i64| FetchedBatch::plain(at * PER_BATCH, (at + 1) * PER_BATCH - 1);
    (0..BATCHES).map(batch).collect()
}

fn empty(id: TopicIdPartition) -> Row {
    Row {
        id,
        error: 0,
        acknowledged: 0,
        leader: (-1, -1),
        acquired: Vec::new(),
        batches: Vec::new(),
    }
}

fn answer(correlation_id: i32, rows: Vec<Row>) -> Answer {
    Answer {
        correlation_id,
        error: 0,
        rows,
        nodes: Vec::new(),
    }
}

fn refusal(correlation_id: i32, error: i16) -> Answer {
    Answer {
        correlation_id,
        error,
        ..Answer::default()
    }
}
