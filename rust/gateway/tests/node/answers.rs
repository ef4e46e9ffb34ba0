//! Answers as the tables read them: every answer of a node in these tests passes here.

use share_state_core::ids::TopicId;
use share_state_core::share_session::TopicIdPartition;
use share_state_wire::messages::protocol::{Borrowed, Direction, Value, api};
use share_state_wire::record_batch::{BatchHeaders, Checksums};

/// An answer to ShareFetch or ShareAcknowledge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub correlation_id: i32,
    pub error: i16,
    pub rows: Vec<Row>,
    /// Ids of the nodes that it names.
    pub nodes: Vec<i64>,
}

/// The answer for one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub id: TopicIdPartition,
    /// Error of the fetch; 0 in an answer to ShareAcknowledge.
    pub error: i16,
    /// Error of the acknowledgements.
    pub acknowledged: i16,
    pub leader: (i64, i64),
    /// First and last offset, delivery count.
    pub acquired: Vec<(i64, i64, i16)>,
    /// First and last offset of the batches.
    pub batches: Vec<(i64, i64)>,
}

impl Answer {
    /// The one partition of the answer.
    pub fn row(&self) -> &Row {
        assert_eq!((self.error, self.rows.len()), (0, 1), "{self:?}");
        &self.rows[0]
    }

    /// The offsets that it gives, with their partition and delivery count.
    pub fn offsets(&self) -> Vec<(TopicIdPartition, i64, i16)> {
        let ranges = self.rows.iter().flat_map(|row| {
            let acquired = row.acquired.iter();
            acquired.map(move |range| (row.id, *range))
        });
        ranges
            .flat_map(|(id, (first, last, count))| (first..=last).map(move |at| (id, at, count)))
            .collect()
    }
}

/// Reads a frame of an answer to the RPC, in version 2.
pub fn read(api_key: i16, frame: &[u8]) -> Answer {
    let length = i32::from_be_bytes(*frame.first_chunk().unwrap());
    assert_eq!(length as usize, frame.len() - 4);
    let correlation_id = i32::from_be_bytes(frame[4..8].try_into().unwrap());
    assert_eq!(frame[8], 0, "tagged fields of the header");
    let table = api(api_key).unwrap();
    let message = table.decode(Direction::Response, 2, &frame[9..]).unwrap();
    let is_fetch = api_key == 78;
    let fields = structure(&message);
    assert_eq!(
        table.encode(Direction::Response, 2, &message).unwrap(),
        frame[9..]
    );
    let mut rows = Vec::new();
    for topic in array(&fields[4]) {
        let topic = structure(topic);
        let Some(Value::Uuid(topic_id)) = topic[0] else {
            panic!("a topic has an id")
        };
        for row in array(&topic[1]) {
            rows.push(read_row(is_fetch, topic_id, structure(row)));
        }
    }
    Answer {
        correlation_id,
        error: int(&fields[1]) as i16,
        rows,
        nodes: array(&fields[5])
            .iter()
            .map(|node| int(&structure(node)[0]))
            .collect(),
    }
}

fn read_row(is_fetch: bool, topic_id: TopicId, row: &[Option<Borrowed<'_>>]) -> Row {
    let id = TopicIdPartition {
        topic_id,
        partition: int(&row[0]) as i32,
    };
    let code = int(&row[1]) as i16;
    let leader = structure(row[if is_fetch { 5 } else { 3 }].as_ref().unwrap());
    let leader = (int(&leader[0]), int(&leader[1]));
    let mut read = Row {
        id,
        error: if is_fetch { code } else { 0 },
        acknowledged: if is_fetch { int(&row[3]) as i16 } else { code },
        leader,
        acquired: Vec::new(),
        batches: Vec::new(),
    };
    if is_fetch {
        let Some(Value::Bytes(records)) = &row[6] else {
            panic!("records are never null")
        };
        let headers = BatchHeaders::new(records, 0, records.len(), Checksums::Checked);
        for header in headers {
            let batch = header.unwrap().batch;
            read.batches.push((batch.base_offset, batch.last_offset));
        }
        for range in array(&row[7]) {
            let range = structure(range);
            let count = int(&range[2]) as i16;
            read.acquired.push((int(&range[0]), int(&range[1]), count));
        }
        let held = |offset: i64| {
            read.batches
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&offset))
        };
        assert!(
            read.acquired
                .iter()
                .all(|(first, last, _)| held(*first) && held(*last))
        );
    }
    read
}

fn structure<'v, 'a>(value: &'v Borrowed<'a>) -> &'v [Option<Borrowed<'a>>] {
    match value {
        Value::Struct(fields) => fields,
        other => panic!("{other:?} is no struct"),
    }
}

fn array<'v, 'a>(value: &'v Option<Borrowed<'a>>) -> &'v [Borrowed<'a>] {
    match value {
        Some(Value::Array(items)) => items,
        other => panic!("{other:?} is no array"),
    }
}

fn int(value: &Option<Borrowed<'_>>) -> i64 {
    match value {
        Some(Value::Int(int)) => *int,
        other => panic!("{other:?} is no number"),
    }
}
