//! Random sequences on share sessions. Our side is played meanwhile, so that most requests carry the epoch that is expected.

use std::collections::BTreeMap;

use super::operation::{Fetch, Key, SessionOperation, Tip};
use super::ours::Ours;
use crate::random::Random;

struct World<'a> {
    random: &'a mut Random,
    ours: Ours,
    ops: Vec<SessionOperation>,
    /// The connection over which each member asks.
    connections: BTreeMap<Key, u64>,
    /// Connections that members have given up without ending them.
    abandoned: Vec<u64>,
    next_connection: u64,
    next_context: usize,
    members: u64,
}

/// The sequence of a seed. At the `renewals` an empty cache takes over.
pub fn generate(random: &mut Random, length: usize, renewals: &[usize]) -> Vec<SessionOperation> {
    let max_sessions = random.pick(&[2, 4, 8, 8]);
    let members = random.pick(&[1, 2, 4, 5]);
    let mut world = World {
        random,
        ours: Ours::default(),
        ops: Vec::new(),
        connections: BTreeMap::new(),
        abandoned: Vec::new(),
        next_connection: 1,
        next_context: 0,
        members,
    };
    world.push(SessionOperation::Create { max_sessions });
    while world.ops.len() < length {
        let op = if renewals.contains(&world.ops.len()) {
            SessionOperation::Create { max_sessions }
        } else {
            world.choose()
        };
        world.push(op);
    }
    world.ops
}

impl World<'_> {
    fn push(&mut self, op: SessionOperation) {
        self.ours.play(&op);
        self.ops.push(op);
    }

    fn choose(&mut self) -> SessionOperation {
        match self.random.below(100) {
            0..=49 => self.fetch(),
            50..=79 => self.answer(),
            80..=87 => self.acknowledge(),
            88..=92 => SessionOperation::Close { key: self.key() },
            _ => self.connection_ends(),
        }
    }

    fn key(&mut self) -> Key {
        Key {
            group: self.random.below(2) as u8,
            member: self.random.below(self.members) as u8,
        }
    }

    fn tip(&mut self) -> Tip {
        (
            self.random.below(3) as u8 + 1,
            self.random.between(0, 2) as i32,
        )
    }

    fn connection(&mut self, key: Key) -> u64 {
        if self.random.one_in(80) {
            // A member that shares the connection of another.
            let others: Vec<u64> = self.connections.values().copied().collect();
            if !others.is_empty() {
                let shared = self.random.pick(&others);
                self.connections.insert(key, shared);
            }
        }
        if let Some(connection) = self.connections.get(&key) {
            return *connection;
        }
        let connection = self.next_connection;
        self.next_connection += 1;
        self.connections.insert(key, connection);
        connection
    }

    fn epoch(&mut self, key: Key) -> i32 {
        let expected = self.ours.session(key).map(|session| session.next_epoch());
        let Some(expected) = expected else {
            return if self.random.percent(90) {
                0
            } else {
                self.random.pick(&[-1, 1, 2, -2, i32::MAX])
            };
        };
        match self.random.below(100) {
            0..=5 => 0,
            6..=9 => -1,
            10..=15 => self
                .random
                .pick(&[expected - 1, expected + 1, -2, i32::MIN, i32::MAX]),
            _ => expected,
        }
    }

    fn fetch(&mut self) -> SessionOperation {
        let key = self.key();
        let epoch = self.epoch(key);
        let mut connection = self.connection(key);
        if self.random.one_in(30) {
            // It has connected again, and the old connection has not ended yet.
            self.abandoned.push(connection);
            self.connections.remove(&key);
            connection = self.connection(key);
        }
        let mut added = Vec::new();
        let most = match epoch {
            0 => self.random.below(7),
            _ if self.random.percent(40) => self.random.below(3),
            _ => 0,
        };
        for _ in 0..most {
            let tip = self.tip();
            // A repetition is an error of Kafka's in an opening request (C3).
            if !added.contains(&tip) || self.random.one_in(if epoch == 0 { 200 } else { 3 }) {
                added.push(tip);
            }
        }
        let mut forgotten = Vec::new();
        if self.random.percent(20) {
            for _ in 0..=self.random.below(2) {
                forgotten.push(self.tip());
            }
        }
        self.next_context += 1;
        let acknowledges = if epoch == 0 {
            self.random.one_in(25)
        } else {
            self.random.percent(30)
        };
        SessionOperation::Fetch(Fetch {
            context: self.next_context,
            key,
            epoch,
            connection,
            added,
            forgotten,
            acknowledges,
        })
    }

    fn answer(&mut self) -> SessionOperation {
        let known: Vec<usize> = self.ours.contexts.keys().copied().collect();
        let Some(latest) = known.last().copied() else {
            return self.fetch();
        };
        let context = if self.random.percent(75) {
            latest
        } else {
            self.random.pick(&known)
        };
        let mut fetched = Vec::new();
        let (failures, records) = (
            self.random.pick(&[0, 0, 10, 50]),
            self.random.pick(&[0, 20, 60]),
        );
        let ids: Vec<Tip> = self
            .ours
            .contexts
            .get(&context)
            .map(|(context, _)| {
                context
                    .partitions()
                    .map(|id| (id.topic_id.0[15], id.partition))
                    .collect()
            })
            .unwrap_or_default();
        let all = self.random.percent(85);
        for id in ids {
            if !all && self.random.percent(40) {
                continue;
            }
            let code = if self.random.percent(failures) {
                self.random.pick(&[3, 6, 29, 74, 78, 100, -1])
            } else {
                0
            };
            let bytes = if self.random.percent(records) {
                self.random.pick(&[1, 70])
            } else {
                0
            };
            fetched.push((id, code, bytes));
        }
        SessionOperation::Answer { context, fetched }
    }

    fn acknowledge(&mut self) -> SessionOperation {
        let key = self.key();
        let epoch = self.epoch(key);
        SessionOperation::Acknowledge { key, epoch }
    }

    fn connection_ends(&mut self) -> SessionOperation {
        if !self.abandoned.is_empty() && self.random.percent(50) {
            let at = self.random.below(self.abandoned.len() as u64) as usize;
            return SessionOperation::Disconnect {
                connection: self.abandoned.swap_remove(at),
            };
        }
        let key = self.key();
        let connection = self.connection(key);
        self.connections.retain(|_, of| *of != connection);
        SessionOperation::Disconnect { connection }
    }
}
