//! Any bytes as those of the clients of a node, with a driver that answers what it asks for: no panic, every answer is one that
//! its table reads, the invariants hold after each call, and nothing stays in memory for connections that are gone.

use std::sync::Arc;

use share_state_core::ids::TopicId;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::ReadStateResult;
use share_state_core::time::LockTime;
use share_state_gateway::node::{
    Event, Limits, Need, Node, Round, Slots, SourceKey, Topic, Topics,
};
use share_state_gateway::{Buffer, Read};
use share_state_wire::messages::protocol::{Direction, api};
use share_state_wire::record_batch::{Checksums, Compression, NewRecord, encode_batch};

const CONNECTIONS: u64 = 3;
/// Batches of the log, of two records each.
const BATCHES: i64 = 4;

struct Driver {
    node: Node,
    now: LockTime,
    round: Option<Round>,
    /// Number of the last connection of each client.
    connections: [u64; CONNECTIONS as usize],
    answers: usize,
}

/// Runs one input: operations, each with a number and bytes, which may be none. Tells whether a request was answered.
pub fn run(data: &[u8]) -> bool {
    let mut driver = Driver::new();
    let mut rest = data;
    while let [what, number, high, low, after @ ..] = rest {
        let size = usize::from(u16::from_be_bytes([*high, *low]));
        let (bytes, after) = after.split_at(after.len().min(size));
        rest = after;
        driver.step(*what, *number, bytes);
        driver.drive();
    }
    driver.end();
    driver.answers > 0
}

impl Driver {
    fn new() -> Self {
        let Ok(mut node) = Node::new(
            Limits::default(),
            Slots::one(1),
            ShareGroupConfig::default(),
        ) else {
            unreachable!("the defaults are valid")
        };
        let topic = Topic {
            name: Arc::from("topic"),
            partitions: 2,
            is_internal: false,
        };
        let topics: Topics = [(TopicId([1; 16]), topic)].into_iter().collect();
        node.set_topics(topics);
        let mut driver = Self {
            node,
            now: LockTime(0),
            round: None,
            connections: [0, 1, 2],
            answers: 0,
        };
        for connection in driver.connections {
            driver.open(connection);
        }
        driver
    }

    fn open(&mut self, connection: u64) {
        self.node
            .opened(connection, Some(Arc::from("User:ANONYMOUS")));
    }

    fn step(&mut self, what: u8, number: u8, bytes: &[u8]) {
        let client = u64::from(number) % CONNECTIONS;
        match what % 8 {
            0..=4 => self.node.feed(self.connection(client), bytes, self.now),
            5 => {
                self.now = self.now.plus(i64::from(number) * 256);
                self.node.tick(self.now);
            }
            6 => self.reopen(client),
            _ => self.settle(number % 4 == 1),
        }
    }

    fn connection(&self, client: u64) -> u64 {
        self.connections.get(client as usize).copied().unwrap_or(0)
    }

    fn reopen(&mut self, client: u64) {
        self.node.closed(self.connection(client), self.now);
        if let Some(connection) = self.connections.get_mut(client as usize) {
            *connection += CONNECTIONS;
        }
        self.open(self.connection(client));
    }

    fn settle(&mut self, is_refused: bool) {
        let Some(round) = self.round.take() else {
            return;
        };
        let code = if is_refused {
            KafkaCode::CoordinatorNotAvailable
        } else {
            KafkaCode::None
        };
        let settled = self
            .node
            .settle(round.number, &vec![code; round.writes.len()], self.now);
        assert!(settled.is_ok());
    }

    fn drive(&mut self) {
        loop {
            self.node.check();
            if let Some(event) = self.node.poll_event() {
                self.happen(event);
            } else if let Some(need) = self.node.poll_need() {
                self.meet(need);
            } else if let Some(round) = self.node.poll_round() {
                assert!(self.round.is_none(), "one round at a time");
                self.round = Some(round);
            } else {
                return;
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Send { connection, bytes } => {
                self.answers += 1;
                check_answer(&bytes);
                self.node.sent(connection, bytes.len(), self.now);
            }
            Event::Request { connection, frame } => {
                assert!(frame.len() <= Limits::default().other_frame);
                self.node.answered(connection, Some(Vec::new()), self.now);
            }
            Event::Denied { .. } => {}
            Event::Loaded { code, .. } => assert_eq!(code, 0),
            Event::StartKept { .. } => unreachable!("nobody has asked for it"),
            Event::Close { connection, .. } => self.reopen(connection % CONNECTIONS),
        }
    }

    fn meet(&mut self, need: Need) {
        match need {
            Need::State { served, .. } => {
                let state = ReadStateResult::starting_at(0);
                self.node.state_read(served, Ok(state), self.now);
            }
            Need::Start { served, .. } => self.node.start_found(served, Some(0), self.now),
            Need::Topics { connection, .. } => self.node.looked_up(connection, self.now),
            Need::LogStart { source } => self.node.log_starts_told(&[(source, Some(0))], self.now),
            Need::Records {
                source,
                life,
                offset,
            } => self.read(source, life, offset),
        }
    }

    fn read(&mut self, key: SourceKey, life: u64, offset: i64) {
        let bytes: Vec<u8> = (offset / 2..BATCHES).flat_map(batch).collect();
        let end = bytes.len();
        if end == 0 {
            // The log has no more.
            return;
        }
        let read = Read {
            asked_offset: offset,
            buffer: Buffer::new(bytes),
            start: 0,
            end,
            aborted: &[],
            checksums: Checksums::Trusted,
        };
        assert!(self.node.records_read(key, life, read, self.now).is_ok());
    }

    /// Everybody leaves, and nothing is left of them.
    fn end(&mut self) {
        self.settle(false);
        self.drive();
        for connection in self.connections {
            self.node.closed(connection, self.now);
        }
        self.drive();
        self.settle(false);
        self.drive();
        self.now = self.now.plus(1_000_000);
        self.node.tick(self.now);
        self.drive();
        self.settle(false);
        self.node.sweep(self.now, self.now);
        self.drive();
        assert_eq!(self.node.sizes(), (0, 0, 0));
    }
}

fn batch(number: i64) -> Vec<u8> {
    let record = NewRecord {
        timestamp: 1,
        key: None,
        value: Some(b"v"),
    };
    encode_batch(number * 2, 0, Compression::None, &[record, record]).unwrap_or_default()
}

/// An answer is a frame that the table of one of the two requests reads, in one of their versions.
fn check_answer(frame: &[u8]) {
    let Some((length, rest)) = frame.split_first_chunk() else {
        unreachable!("an answer has a length")
    };
    assert_eq!(u32::from_be_bytes(*length) as usize, rest.len());
    let body = rest.get(5..).unwrap_or_default();
    let reads = |key: i16| {
        let table = api(key);
        (1..=2).any(|version| {
            table.is_some_and(|table| table.decode(Direction::Response, version, body).is_ok())
        })
    };
    assert!(reads(78) || reads(79));
}
