//! Recorded operations as those of a sequence.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::format;
use super::given::{Members, given};
use super::pieces::{
    Unplayable, answer_of, empty, initialize, left, list, lock_ms, log_batch, queue, range,
};
use crate::operation::{Answer, Limits, Operation, Queue, Verb, When};
use crate::recordings::cases::operations;
use crate::recordings::fields::{Unknown, either, flag, number, text};

/// A scenario: its operations, and what Kafka was recorded to give.
#[derive(Default)]
pub struct Sequence {
    pub ops: Vec<Operation>,
    pub given: Vec<Value>,
    /// Place of each operation in the recording.
    pub places: Vec<usize>,
    /// Batches that Kafka has come to track by offset: the operation, the leader, first and last offset.
    pub split: Vec<(usize, usize, i64, i64)>,
}

/// Reads a scenario.
pub fn sequence(scenario: &Value) -> Result<Sequence, Unplayable> {
    format::check(scenario)?;
    let mut reading = Reading::default();
    let tags = scenario["tags"].as_array().into_iter().flatten();
    if tags.into_iter().any(|tag| tag == "multithreaded") {
        return Err(left("records an interleaving of concurrent calls"));
    }
    let ops = operations(scenario)?;
    reading.is_without_settings = ops.iter().all(|op| op.get("group_config").is_none());
    for (at, op) in ops.iter().enumerate() {
        reading.at = at;
        reading.read(op)?;
    }
    Ok(reading.sequence)
}

fn none_made() -> Unknown {
    Unknown("no share partition was made".to_owned())
}

/// A leader's share partition while the operations are read.
struct Leader {
    leader_epoch: i32,
    limits: Limits,
    has_queue: bool,
}

#[derive(Default)]
struct Reading {
    sequence: Sequence,
    /// Index of the operation that is read.
    at: usize,
    /// True if no operation tells a setting of the group.
    is_without_settings: bool,
    leaders: Vec<Leader>,
    /// The place of each recorded share partition among the leaders.
    places: BTreeMap<u64, usize>,
    members: Members,
    /// The leader whose write is answered under an id.
    asked_by: BTreeMap<u32, usize>,
}

impl Reading {
    fn read(&mut self, op: &Value) -> Result<(), Unplayable> {
        let index = op.get("partition_index").map_or(Ok(0), number)?;
        let name = op["op"].as_str().unwrap_or("");
        if name == "create" {
            return Ok(self.create(op, index)?);
        }
        let verb = self.verb(name, op)?;
        let mut place = *self.places.get(&index).ok_or_else(none_made)?;
        let mut index = index;
        if name == "advance_clock" && op.get("partition_index").is_none() {
            place = self.latest()?;
            index = self.index_of(place);
        }
        if let Verb::Completes { id } = verb {
            place = self.asked_by.remove(&id).unwrap_or(place);
            index = self.index_of(place);
        }
        let limits = self.limits(place, &op["group_config"])?;
        let answer = self.answer(op, place)?;
        let queue = queue(op)?;
        let given = given(op, index, &mut self.members);
        self.push(
            Operation {
                partition: place,
                verb,
                limits,
                answer,
                queue,
            },
            given,
        );
        Ok(())
    }

    fn push(&mut self, op: Operation, given: Value) {
        let batches = given["state"]["batches"].as_array().into_iter().flatten();
        for batch in batches.filter(|batch| batch.get("offsets").is_some()) {
            if let (Some(first), Some(last)) = (batch["first"].as_i64(), batch["last"].as_i64()) {
                let at = self.sequence.ops.len();
                self.sequence.split.push((at, op.partition, first, last));
            }
        }
        self.sequence.places.push(self.at);
        self.sequence.ops.push(op);
        self.sequence.given.push(given);
    }

    fn index_of(&self, place: usize) -> u64 {
        let found = self.places.iter().find(|(_, at)| **at == place);
        found.map_or(0, |(index, _)| *index)
    }

    /// The leader for whom time passes: the others have been succeeded, and their clocks stand still.
    fn latest(&self) -> Result<usize, Unplayable> {
        let (last, before) = self.leaders.split_last().ok_or_else(none_made)?;
        if before
            .iter()
            .all(|leader| leader.leader_epoch < last.leader_epoch)
        {
            return Ok(before.len());
        }
        Err(left("time passes for several share partitions"))
    }

    fn create(&mut self, op: &Value, index: u64) -> Result<(), Unknown> {
        let config = &op["config"];
        let leader = Leader {
            leader_epoch: number(&config["leader_epoch"])?,
            limits: Limits {
                max_locks: number(&config["max_in_flight"])?,
                delivery_limit: number(&config["max_delivery_count"])?,
                lock_ms: lock_ms(&config["record_lock_ms"])?,
                dead_letters: false,
            },
            has_queue: flag(&config["dlq_enabled"])?,
        };
        let is_active = either(&config["initial_status"], "ACTIVE", "EMPTY")?;
        let place = self.leaders.len();
        let plain = |verb| Operation {
            partition: place,
            verb,
            limits: None,
            answer: Answer::OK,
            queue: Queue::OK,
        };
        let made = Verb::Create {
            leader_epoch: leader.leader_epoch,
            limits: leader.limits,
        };
        self.places.insert(index, place);
        self.leaders.push(leader);
        let mut recorded = given(op, index, &mut self.members);
        if is_active {
            // Kafka's test object is made active without a read; an empty answer comes to the same.
            self.push(plain(made), json!({"state": empty()}));
            recorded["code"] = json!(0);
            let read = Verb::Initialize {
                code: 0,
                state_epoch: 0,
                start_offset: 0,
                earliest: 0,
                batches: Vec::new(),
            };
            self.push(plain(read), recorded);
        } else {
            self.push(plain(made), recorded);
        }
        Ok(())
    }

    fn limits(&mut self, place: usize, config: &Value) -> Result<Option<Limits>, Unknown> {
        let leader = &mut self.leaders[place];
        let before = leader.limits;
        let limits = &mut leader.limits;
        if let Some(most) = config.get("partitionMaxRecordLocksOrDefault") {
            limits.max_locks = number(most)?;
        }
        if let Some(most) = config.get("deliveryCountLimitOrDefault") {
            limits.delivery_limit = number(most)?;
        }
        if let Some(lasts) = config.get("recordLockDurationMsOrDefault") {
            limits.lock_ms = lock_ms(lasts)?;
        }
        if let Some(topic) = config.get("errorsDLQTopicName") {
            limits.dead_letters = text(topic)? != "Optional.empty" && leader.has_queue;
        }
        Ok((*limits != before).then_some(*limits))
    }

    fn verb(&mut self, name: &str, op: &Value) -> Result<Verb, Unplayable> {
        Ok(match name {
            "initialize" => initialize(op)?,
            "acquire" => self.acquire(op)?,
            "acknowledge" => Verb::Acknowledge {
                member: self.member(op)?,
                ranges: list(&op["batches"], range)?,
                renew: self.renews(op),
            },
            "release_session" => Verb::Release {
                member: self.member(op)?,
            },
            "advance_clock" => Verb::Advance {
                ms: number(&op["ms"])?,
            },
            "persister_completes" => Verb::Completes {
                id: number(&op["async_id"])?,
            },
            "dead_letters_complete" => Verb::LettersDone {
                id: number(&op["async_id"])?,
            },
            "move_log_start_offset" => Verb::LogStart {
                offset: number(&op["log_start_offset"])?,
            },
            "next_fetch_offset" => Verb::NextFetchOffset,
            "can_acquire_records" => Verb::CanAcquire,
            "mark_fenced" => Verb::Fence,
            other => return Err(left(format!("{other} reaches into Kafka's class"))),
        })
    }

    /// Returns true if renewals are allowed. Where settings are recorded, they are not unless this operation says so; a recording
    /// without any, as of a release that has no such switch, shows it by the answer.
    fn renews(&self, op: &Value) -> bool {
        if self.is_without_settings {
            return op["expect"]["result"]["error"] != "InvalidRecordStateException";
        }
        op["group_config"]["isRenewAcknowledgeEnabled"] == true
    }

    fn member(&mut self, op: &Value) -> Result<u8, Unknown> {
        Ok(self.members.number(text(&op["member"])?))
    }

    fn acquire(&mut self, op: &Value) -> Result<Verb, Unknown> {
        let aborted = |entry: &Value| {
            Ok((
                number(&entry["producer_id"])?,
                number(&entry["first_offset"])?,
            ))
        };
        let is_committed = either(&op["isolation"], "TXN_COMMITTED", "HIGH_WATERMARK")?;
        Ok(Verb::Acquire {
            member: self.member(op)?,
            record_limit: either(&op["mode"], "record_limit", "batch_optimized")?,
            batch_size: number(&op["batch_size"])?,
            max_records: number(&op["max_fetch_records"])?,
            fetch_offset: number(&op["fetch_offset"])?,
            fetched: list(&op["fetched_batches"], log_batch)?,
            aborted: if is_committed {
                Some(list(&op["aborted_transactions"], aborted)?)
            } else {
                None
            },
        })
    }

    /// Answer of the persister to our writes of the operation.
    fn answer(&mut self, op: &Value, place: usize) -> Result<Answer, Unplayable> {
        let timeouts = op["lock_timeouts_fired"].as_array().into_iter().flatten();
        let of_timeouts = self.answers(timeouts, place)?;
        let own = self.answers([op], place)?;
        if let Some((first, rest)) = own.split_first() {
            if rest.iter().any(|answer| answer.code != first.code) {
                return Err(left("writes of one operation are answered otherwise"));
            }
            return Ok(*first);
        }
        // Kafka sends one a timer where ours is one. The answer decides only when the start offset may move: ours gets the last
        // of those that come later, else the first.
        let later = of_timeouts
            .iter()
            .rfind(|answer| answer.when != When::AtOnce);
        Ok(*later.or(of_timeouts.first()).unwrap_or(&Answer::OK))
    }

    fn answers<'a>(
        &mut self,
        holders: impl IntoIterator<Item = &'a Value>,
        place: usize,
    ) -> Result<Vec<Answer>, Unknown> {
        let writes = holders
            .into_iter()
            .flat_map(|holder| holder["persister_writes"].as_array());
        let answers: Vec<Answer> = writes.flatten().map(answer_of).collect::<Result<_, _>>()?;
        for answer in &answers {
            if let When::Later(id) = answer.when {
                self.asked_by.insert(id, place);
            }
        }
        Ok(answers)
    }
}
