//! The five requests: their bytes, what the coordinator decides for each partition, and the bytes of the answers.

use serde_json::Value;
use share_state_core::coordinator::{CoordinatorError, ShareCoordinator};
use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::{
    InitializeState, ReadState, ReadStateResult, StateSummary, WriteState,
};
use share_state_core::records::ShareRecord;
use share_state_core::time::WallTime;
use share_state_wire::messages::schema::{
    DeletePartition, InitializePartition, PartitionResult, ReadPartition, ReadPartitionResult,
    SummaryPartition, SummaryPartitionResult, TopicPartitions, WritePartition,
};
use share_state_wire::messages::{
    Api, Delete, Initialize, Read, ReadSummary, Request, Response, Write,
};

use super::super::cases::Points;
use super::super::fields::{Unknown, bytes, flag, known, list, number};
use super::compare_records;
use super::message::FromJson;
use crate::bytes::to_hex;

/// Circumstances of a request for a partition.
pub struct Asked<'a> {
    coordinator: &'a ShareCoordinator,
    key: SharePartitionKey,
    topic_exists: bool,
    now: WallTime,
}

type Decided<T> = Result<(Vec<ShareRecord>, T), CoordinatorError>;

/// An RPC that the coordinator decides.
pub trait Verb: Api<Asked: FromJson, Answered: FromJson> {
    /// Content of its answer beside the code.
    type Answer;

    /// The partition that is asked about.
    fn partition(asked: &Self::Asked) -> i32;

    /// Decision of the coordinator.
    fn decide(around: &Asked<'_>, asked: &Self::Asked) -> Decided<Self::Answer>;

    /// The answer for a partition, without a text: its wording is Kafka's.
    fn answered(partition: i32, answer: Result<Self::Answer, i16>) -> Self::Answered;
}

fn plain(partition: i32, answer: Result<(), i16>) -> PartitionResult {
    PartitionResult {
        partition,
        error_code: answer.err().unwrap_or(0),
        error_message: None,
    }
}

impl Verb for Initialize {
    type Answer = ();

    fn partition(asked: &InitializePartition) -> i32 {
        asked.partition
    }

    fn decide(around: &Asked<'_>, asked: &InitializePartition) -> Decided<()> {
        let request = InitializeState {
            state_epoch: asked.state_epoch,
            start_offset: asked.start_offset,
        };
        let (key, exists) = (&around.key, around.topic_exists);
        let decided = around
            .coordinator
            .decide_initialize(key, &request, exists, around.now)?;
        Ok((decided.records, ()))
    }

    fn answered(partition: i32, answer: Result<(), i16>) -> PartitionResult {
        plain(partition, answer)
    }
}

impl Verb for Read {
    type Answer = ReadStateResult;

    fn partition(asked: &ReadPartition) -> i32 {
        asked.partition
    }

    fn decide(around: &Asked<'_>, asked: &ReadPartition) -> Decided<ReadStateResult> {
        let request = ReadState {
            leader_epoch: asked.leader_epoch,
        };
        let (key, exists) = (&around.key, around.topic_exists);
        let decided = around
            .coordinator
            .decide_read(key, &request, exists, around.now)?;
        Ok((decided.records, decided.answer))
    }

    fn answered(partition: i32, answer: Result<ReadStateResult, i16>) -> ReadPartitionResult {
        let error_code = answer.as_ref().err().copied().unwrap_or(0);
        let read = answer.unwrap_or(ReadStateResult {
            state_epoch: 0,
            start_offset: 0,
            state_batches: Vec::new(),
        });
        ReadPartitionResult {
            partition,
            error_code,
            error_message: None,
            state_epoch: read.state_epoch,
            start_offset: read.start_offset,
            state_batches: read.state_batches,
        }
    }
}

impl Verb for Write {
    type Answer = ();

    fn partition(asked: &WritePartition) -> i32 {
        asked.partition
    }

    fn decide(around: &Asked<'_>, asked: &WritePartition) -> Decided<()> {
        let request = WriteState {
            state_epoch: asked.state_epoch,
            leader_epoch: asked.leader_epoch,
            start_offset: asked.start_offset,
            delivery_complete_count: asked.delivery_complete_count,
            state_batches: asked.state_batches.clone(),
        };
        let (key, exists) = (&around.key, around.topic_exists);
        let decided = around
            .coordinator
            .decide_write(key, &request, exists, around.now)?;
        Ok((decided.records, ()))
    }

    fn answered(partition: i32, answer: Result<(), i16>) -> PartitionResult {
        plain(partition, answer)
    }
}

impl Verb for Delete {
    type Answer = ();

    fn partition(asked: &DeletePartition) -> i32 {
        asked.partition
    }

    fn decide(around: &Asked<'_>, _: &DeletePartition) -> Decided<()> {
        let (key, exists) = (&around.key, around.topic_exists);
        let decided = around.coordinator.decide_delete(key, exists)?;
        Ok((decided.records, ()))
    }

    fn answered(partition: i32, answer: Result<(), i16>) -> PartitionResult {
        plain(partition, answer)
    }
}

impl Verb for ReadSummary {
    type Answer = StateSummary;

    fn partition(asked: &SummaryPartition) -> i32 {
        asked.partition
    }

    fn decide(around: &Asked<'_>, _: &SummaryPartition) -> Decided<StateSummary> {
        let (key, exists) = (&around.key, around.topic_exists);
        let summary = around.coordinator.read_summary(key, exists)?;
        Ok((Vec::new(), summary))
    }

    fn answered(partition: i32, answer: Result<StateSummary, i16>) -> SummaryPartitionResult {
        let error_code = answer.as_ref().err().copied().unwrap_or(0);
        let summary = answer.unwrap_or(StateSummary {
            state_epoch: 0,
            leader_epoch: 0,
            start_offset: 0,
            delivery_complete_count: -1,
        });
        SummaryPartitionResult {
            partition,
            error_code,
            error_message: None,
            state_epoch: summary.state_epoch,
            leader_epoch: summary.leader_epoch,
            start_offset: summary.start_offset,
            delivery_complete_count: summary.delivery_complete_count,
        }
    }
}

/// A request as recorded.
struct Recorded<A: Verb> {
    request: Request<A>,
    version: i16,
    /// Missing where the recorder took the arguments apart.
    wire: Option<Vec<u8>>,
}

impl<A: Verb> Recorded<A> {
    /// Reads `args`: a whole request, or group, topic id and partition.
    fn parse(op: &Value) -> Result<Self, Unknown> {
        match list(&op["args"])? {
            [request] => {
                known(
                    request,
                    &["type", "data", "version", "wire_hex"],
                    "the request",
                )?;
                let wire = &request["wire_hex"];
                Ok(Self {
                    request: Request::from_json(&request["data"])?,
                    version: number(&request["version"])?,
                    wire: (!wire.is_null()).then(|| bytes(wire)).transpose()?,
                })
            }
            [group, topic_id, partition] => Ok(Self {
                request: Request {
                    group_id: String::from_json(group)?,
                    topics: vec![TopicPartitions {
                        topic_id: FromJson::from_json(topic_id)?,
                        partitions: vec![A::Asked::from_json(partition)?],
                    }],
                },
                version: A::MAX_VERSION,
                wire: None,
            }),
            other => Err(Unknown(format!("{} arguments of a request", other.len()))),
        }
    }
}

/// Plays a request and compares its bytes, the records, the answer and the bytes of the answer.
pub fn play<A: Verb>(
    coordinator: &ShareCoordinator,
    now: WallTime,
    op: &Value,
    points: &mut Points,
) -> Result<(), Unknown> {
    let Recorded {
        request,
        version,
        wire,
    } = Recorded::<A>::parse(op)?;
    if let Some(wire) = wire {
        points.same(
            "request read from its bytes",
            &Ok(request.clone()),
            &Request::decode(&wire, version),
        );
        points.same(
            "request bytes",
            &Ok(to_hex(&wire)),
            &request.encode(version).map(|ours| to_hex(&ours)),
        );
    }
    let topic_exists = op.get("topic_exists").map_or(Ok(true), flag)?;
    let mut records = Vec::new();
    let mut refusals = Vec::new();
    let mut answer = Response::<A> {
        results: Vec::new(),
    };
    for topic in &request.topics {
        let mut partitions = Vec::new();
        for asked in &topic.partitions {
            let partition = A::partition(asked);
            let around = Asked {
                coordinator,
                key: SharePartitionKey::new(&request.group_id, topic.topic_id, partition),
                topic_exists,
                now,
            };
            let decided = A::decide(&around, asked).map_err(|error| error.kafka_code().code());
            refusals.extend(decided.as_ref().err().copied());
            let decided = decided.map(|(more, answer)| {
                records.extend(more);
                answer
            });
            partitions.push(A::answered(partition, decided));
        }
        answer.results.push(TopicPartitions {
            topic_id: topic.topic_id,
            partitions,
        });
    }
    if let Some(error) = op["result"].get("error") {
        // Kafka threw, which is never our answer.
        points.same_json("what Kafka threw", error, &refusals.into());
        return Ok(());
    }
    compare_records(op, &records, points)?;
    let recorded = Response::<A>::from_json(&op["result"]["response"])?;
    points.same("answer", &recorded, &answer);
    if let Some(wire) = op.get("response_wire_hex").filter(|_| refusals.is_empty()) {
        let wire = bytes(wire)?;
        points.same(
            "answer read from its bytes",
            &Ok(recorded),
            &Response::decode(&wire, version),
        );
        points.same(
            "bytes of the answer",
            &Ok(to_hex(&wire)),
            &answer.encode(version).map(|ours| to_hex(&ours)),
        );
    }
    Ok(())
}
