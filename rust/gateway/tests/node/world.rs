//! The world around a node: logs upstream, a share coordinator that keeps states, and a driver that may be slow.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::WriteState;
use share_state_core::share_session::{ConnectionId, TopicIdPartition};
use share_state_core::time::LockTime;
use share_state_gateway::node::{
    Closing, Event, KeepTicket, Limits, Need, Node, Round, Slots, SourceKey,
};
use share_state_gateway::{Buffer, Read};
use share_state_wire::record_batch::Checksums;

use crate::answers::{Answer, read};
use crate::client::{Acknowledge, Fetch, place};
use crate::scene::{A, B, LEADER_EPOCH, PER_BATCH, bytes, config, topics};
use crate::states::States;

/// Batches of one read.
const PER_READ: i64 = 4;

pub struct World {
    pub node: Node,
    limits: Limits,
    leader_epoch: i32,
    pub now: LockTime,
    /// Ends of the logs.
    ends: BTreeMap<TopicIdPartition, i64>,
    store: States,
    /// Frames that each connection was sent.
    sent: HashMap<ConnectionId, VecDeque<Vec<u8>>>,
    pub closings: Vec<(ConnectionId, Closing)>,
    /// Requests that the node does not serve.
    pub opaque: VecDeque<(ConnectionId, Vec<u8>)>,
    /// Bytes of the value of each record.
    pub value: usize,
    /// Rounds wait for [`Self::settle`].
    pub holds_rounds: bool,
    /// States, start offsets, topics and log starts wait until this is false.
    pub holds_states: bool,
    /// States are refused with this code.
    pub refuses_states: Option<KafkaCode>,
    /// Bytes that were sent are not taken.
    pub holds_bytes: bool,
    /// The round that is under way.
    pub round: Option<Round>,
    states: VecDeque<Need>,
    /// Reads after the end of a log.
    tails: Vec<(SourceKey, u64, i64)>,
    pub rounds: usize,
    /// Outcomes of writes that were to keep start offsets.
    pub starts: Vec<(KeepTicket, Option<WriteState>)>,
    /// Names of what clients may not read.
    pub denied: Vec<String>,
    /// Codes with which loads have ended.
    pub loads: Vec<i16>,
    /// Reads that have brought batches.
    pub reads: usize,
}

impl World {
    pub fn new(limits: Limits) -> Self {
        let mut node = Node::new(limits, Slots::one(LEADER_EPOCH), config()).unwrap();
        node.set_topics(topics());
        Self {
            node,
            limits,
            leader_epoch: LEADER_EPOCH,
            now: LockTime(0),
            ends: BTreeMap::new(),
            store: States::new(),
            sent: HashMap::new(),
            closings: Vec::new(),
            opaque: VecDeque::new(),
            value: 5,
            holds_rounds: false,
            holds_states: false,
            refuses_states: None,
            holds_bytes: false,
            round: None,
            states: VecDeque::new(),
            tails: Vec::new(),
            rounds: 0,
            starts: Vec::new(),
            denied: Vec::new(),
            loads: Vec::new(),
            reads: 0,
        }
    }

    /// A world in which these connections are open.
    pub fn with(limits: Limits, connections: &[ConnectionId]) -> Self {
        let mut world = Self::new(limits);
        for connection in connections {
            world.open(*connection);
        }
        world
    }

    pub fn open(&mut self, connection: ConnectionId) {
        self.node
            .opened(connection, Some(Arc::from("User:ANONYMOUS")));
    }

    /// Has members begin their sessions with a partition, of which nothing is there yet.
    pub fn join(&mut self, members: &[(ConnectionId, &str)], id: TopicIdPartition) {
        for (connection, member) in members {
            self.fetch(*connection, &Fetch::of(member, 0).adding(&[id]));
        }
    }

    pub fn feed(&mut self, connection: ConnectionId, bytes: &[u8]) {
        self.node.feed(connection, bytes, self.now);
        self.drive();
    }

    pub fn close(&mut self, connection: ConnectionId) {
        self.node.closed(connection, self.now);
        self.drive();
    }

    /// Sends a request, which is answered within the call.
    pub fn fetch(&mut self, connection: ConnectionId, request: &Fetch) -> Answer {
        self.feed(connection, &request.frame(7));
        self.answer(connection, 78).unwrap()
    }

    /// Sends a request, which is answered within the call.
    pub fn acknowledge(&mut self, connection: ConnectionId, request: &Acknowledge) -> Answer {
        self.feed(connection, &request.frame(8));
        self.answer(connection, 79).unwrap()
    }

    /// The next answer that a connection was sent.
    pub fn answer(&mut self, connection: ConnectionId, api_key: i16) -> Option<Answer> {
        self.frame(connection).map(|frame| read(api_key, &frame))
    }

    /// The next frame that a connection was sent.
    pub fn frame(&mut self, connection: ConnectionId) -> Option<Vec<u8>> {
        self.sent.get_mut(&connection)?.pop_front()
    }

    /// The next thing that is held back.
    pub fn held(&mut self) -> Option<Need> {
        self.states.pop_front()
    }

    /// Appends batches to a log.
    pub fn produce(&mut self, id: TopicIdPartition, batches: i64) {
        *self.ends.entry(id).or_default() += batches * PER_BATCH;
        for (key, life, offset) in std::mem::take(&mut self.tails) {
            self.read(key, life, offset);
        }
        self.drive();
    }

    /// A world whose member `m` holds the first two of four records of a log.
    pub fn holding() -> Self {
        let (mut world, id) = (Self::with(Limits::default(), &[A, B]), place(1, 0));
        world.produce(id, 2);
        let mut fetch = Fetch::of("m", 0).adding(&[id]).waiting(9);
        fetch.max_records = 2;
        assert_eq!(world.fetch(A, &fetch).row().acquired, [(0, 1, 1)]);
        world
    }

    /// Has a share partition loaded and the first batches of its log read, by a member that comes and goes.
    pub fn warm(&mut self, id: TopicIdPartition) {
        const CONNECTION: ConnectionId = 999;
        self.open(CONNECTION);
        let fetch = Fetch::of("warm", 0).adding(&[id]).waiting(9);
        let given = self.fetch(CONNECTION, &fetch).offsets();
        assert!(!given.is_empty());
        self.close(CONNECTION);
    }

    /// The process dies, with the round that is under way in the log or not, and another begins on the same log.
    pub fn restart(&mut self, is_written: bool) {
        if let Some(round) = self.round.take().filter(|_| is_written) {
            for (key, state) in &round.writes {
                self.store.write(key, state);
            }
        }
        self.leader_epoch += 1;
        self.node = Node::new(self.limits, Slots::one(self.leader_epoch), config()).unwrap();
        self.node.set_topics(topics());
        self.sent.clear();
        self.states.clear();
        self.tails.clear();
    }

    /// Lets time pass, and does what is due.
    pub fn pass(&mut self, ms: i64) {
        let until = self.now.plus(ms);
        while let Some(next) = self.node.poll_timeout().filter(|next| *next <= until) {
            self.now = self.now.max(next);
            self.node.tick(self.now);
            self.drive();
        }
        self.now = until;
    }

    /// Settles the round that is held, with this answer to each of its writes; false if there is none.
    pub fn settle(&mut self, refusal: Option<KafkaCode>) -> bool {
        self.settle_by(|_| refusal)
    }

    /// Settles the round that is held, with an answer by share partition.
    pub fn settle_by(&mut self, refusal: impl Fn(&SharePartitionKey) -> Option<KafkaCode>) -> bool {
        let Some(round) = self.round.take() else {
            return false;
        };
        let answers: Vec<_> = round
            .writes
            .iter()
            .map(|(key, state)| refusal(key).unwrap_or_else(|| self.store.write(key, state)))
            .collect();
        self.node.settle(round.number, &answers, self.now).unwrap();
        self.drive();
        true
    }

    /// Does everything that the node asks for, unless it is held back.
    pub fn drive(&mut self) {
        loop {
            self.node.check();
            if let Some(event) = self.node.poll_event() {
                self.happen(event);
            } else if let Some(need) = self.node.poll_need() {
                match need {
                    Need::Records {
                        source,
                        life,
                        offset,
                    } => self.read(source, life, offset),
                    state => self.states.push_back(state),
                }
            } else if let Some(round) = self.node.poll_round() {
                self.rounds += 1;
                assert!(self.round.is_none(), "one round at a time");
                self.round = Some(round);
            } else if !self.holds_states
                && let Some(need) = self.states.pop_front()
            {
                self.meet(need);
            } else if self.holds_rounds || !self.settle(None) {
                return;
            }
        }
    }

    /// The state batches that are kept: first and last offset, delivery state.
    pub fn kept(&self, group: &str, id: TopicIdPartition) -> Vec<(i64, i64, i8)> {
        let key = SharePartitionKey::new(group, id.topic_id, id.partition);
        self.store.batches(&key)
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Send { connection, bytes } => {
                let size = bytes.len();
                self.sent.entry(connection).or_default().push_back(bytes);
                if !self.holds_bytes {
                    self.node.sent(connection, size, self.now);
                }
            }
            Event::Denied { name, .. } => self.denied.push(name.to_string()),
            Event::Loaded { code, .. } => self.loads.push(code),
            Event::StartKept { ticket, kept } => self.starts.push((ticket, kept)),
            Event::Request { connection, frame } => self.opaque.push_back((connection, frame)),
            Event::Close { connection, cause } => self.closings.push((connection, cause)),
        }
    }

    fn meet(&mut self, need: Need) {
        match need {
            Need::State {
                served,
                key,
                leader_epoch,
            } => {
                let read = match self.refuses_states {
                    Some(refusal) => Err(refusal),
                    None => self.store.read(&key, leader_epoch),
                };
                self.node.state_read(served, read, self.now);
            }
            Need::Start { served, .. } => self.node.start_found(served, Some(0), self.now),
            // There are no other topics.
            Need::Topics { connection, .. } => self.node.looked_up(connection, self.now),
            Need::LogStart { source } => self.node.log_starts_told(&[(source, None)], self.now),
            Need::Records { .. } => {}
        }
    }

    /// Answers a read with some batches, or keeps it until there are any.
    pub fn read(&mut self, key: SourceKey, life: u64, offset: i64) {
        let end = self.ends.get(&key.id).copied().unwrap_or(0);
        if offset >= end {
            self.tails.push((key, life, offset));
            return;
        }
        self.reads += 1;
        assert!(self.reads < 10_000, "the same is read again and again");
        let first = offset / PER_BATCH;
        let count = (end / PER_BATCH - first).min(PER_READ);
        let bytes: Vec<u8> = (first..first + count)
            .flat_map(|batch| bytes(batch * PER_BATCH, self.value))
            .collect();
        let end = bytes.len();
        let read = Read {
            asked_offset: offset,
            buffer: Buffer::new(bytes),
            start: 0,
            end,
            aborted: &[],
            checksums: Checksums::Checked,
        };
        self.node.records_read(key, life, read, self.now).unwrap();
    }
}
