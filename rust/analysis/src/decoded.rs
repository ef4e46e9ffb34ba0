//! Row of a decoded record: its fields, without the state that it leads to.

use share_state_core::history::At;
use share_state_core::ids::SharePartitionKey;
use share_state_core::records::ShareValue;
use share_state_core::state_batch::StateBatch;
use share_state_wire::WireErrorKind;
use share_state_wire::state_record::{
    self, DecodedKey, SHARE_SNAPSHOT, SHARE_UPDATE, decode_snapshot, decode_update,
};

use crate::common_columns;
use crate::row_error::Reason;
use crate::table::{Cell, Cells, Column, Kind, Row};

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// The whole state of a share partition.
    Snapshot,
    /// A change of it.
    Update,
    /// Its deletion.
    Tombstone,
    /// A record of a type that this release does not know; its bytes are kept.
    UnknownType,
    /// A snapshot or update of a version that this release does not know; its value's bytes are kept.
    UnknownVersion,
}

impl RecordKind {
    /// The name that the row shows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Update => "update",
            Self::Tombstone => "tombstone",
            Self::UnknownType => "unknown_type",
            Self::UnknownVersion => "unknown_version",
        }
    }
}

/// A record that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedRow {
    /// State partition that holds it.
    pub state_partition: u32,
    /// Offset there, and time.
    pub at: At,
    /// The share partition; `None` if the type of the key is not known.
    pub key: Option<SharePartitionKey>,
    /// Type in the key.
    pub record_type: i16,
    /// Kind of the record.
    pub kind: RecordKind,
    /// Value of the record; `None` where it cannot be read.
    pub value: Option<ShareValue>,
    /// Version of the value; `None` for a tombstone and for an unknown type.
    pub value_version: Option<i16>,
    /// The key of a record of an unknown type.
    pub unread_key: Option<Vec<u8>>,
    /// The value that cannot be read.
    pub unread_value: Option<Vec<u8>>,
}

impl DecodedRow {
    /// Reads a record.
    ///
    /// # Errors
    /// Key or value is damaged.
    pub fn read(
        state_partition: u32,
        at: At,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<Self, Reason> {
        let mut row = Self {
            state_partition,
            at,
            key: None,
            record_type: SHARE_SNAPSHOT,
            kind: RecordKind::UnknownType,
            value: None,
            value_version: None,
            unread_key: None,
            unread_value: None,
        };
        let read = match state_record::decode_key(key)? {
            DecodedKey::UnknownType(record_type) => {
                row.record_type = record_type;
                row.unread_key = Some(key.to_vec());
                row.unread_value = value.map(<[u8]>::to_vec);
                return Ok(row);
            }
            DecodedKey::Snapshot(key) => {
                row.key = Some(key);
                decode_snapshot(value)
            }
            DecodedKey::Update(key) => {
                row.key = Some(key);
                row.record_type = SHARE_UPDATE;
                decode_update(value)
            }
        };
        match read {
            Ok(read) => {
                row.kind = match read {
                    ShareValue::Snapshot(_) => RecordKind::Snapshot,
                    ShareValue::Update(_) => RecordKind::Update,
                    ShareValue::Tombstone => RecordKind::Tombstone,
                };
                row.value_version = value.map(|_| 0);
                row.value = Some(read);
            }
            Err(error) => {
                let WireErrorKind::UnsupportedVersion { version } = error.kind else {
                    return Err(Reason::Corrupt(error));
                };
                row.kind = RecordKind::UnknownVersion;
                row.value_version = Some(version);
                row.unread_value = value.map(<[u8]>::to_vec);
            }
        }
        Ok(row)
    }

    fn figures(&self) -> Figures<'_> {
        match &self.value {
            Some(ShareValue::Snapshot(s)) => Figures {
                epochs: [Some(s.snapshot_epoch), Some(s.state_epoch)],
                rest: Some((s.leader_epoch, s.start_offset, s.delivery_complete_count)),
                times: [Some(s.create_timestamp), Some(s.write_timestamp)],
                batches: Some(&s.state_batches),
            },
            Some(ShareValue::Update(u)) => Figures {
                epochs: [Some(u.snapshot_epoch), None],
                rest: Some((u.leader_epoch, u.start_offset, u.delivery_complete_count)),
                times: [None; 2],
                batches: Some(&u.state_batches),
            },
            _ => Figures::default(),
        }
    }
}

/// Fields of a value: epochs of snapshot and state; leader epoch, start offset and count; the two times; the batches.
#[derive(Default)]
struct Figures<'a> {
    epochs: [Option<i32>; 2],
    rest: Option<(i32, i64, i32)>,
    times: [Option<i64>; 2],
    batches: Option<&'a [StateBatch]>,
}

impl Row for DecodedRow {
    const COLUMNS: &'static [Column] = &[
        Column::nullable(
            "group",
            Kind::Text,
            "Id of the share group; null when the record's type is not known.",
        ),
        Column::nullable(
            "topic_id",
            Kind::Text,
            "Id of the topic, a hyphenated UUID; null as the group is.",
        ),
        Column::nullable(
            "partition",
            Kind::Int32,
            "Partition of the topic; null as the group is.",
        ),
        Column::new(
            "kind",
            Kind::Text,
            "snapshot, update, tombstone, unknown_type or unknown_version.",
        ),
        Column::new(
            "at_offset",
            Kind::Int64,
            "Offset of the record in its state partition.",
        ),
        Column::new("at_timestamp", Kind::Timestamp, "Time of the record."),
        common_columns::RECORD_PARTITION,
        Column::new(
            "record_type",
            Kind::Int16,
            "Type in the key: 0 snapshot or tombstone, 1 update.",
        ),
        Column::nullable(
            "value_version",
            Kind::Int16,
            "Version of the value; null in a tombstone, and when the type is not known.",
        ),
        Column::nullable(
            "snapshot_epoch",
            Kind::Int32,
            "Epoch of the snapshot, or of the one that the update follows.",
        ),
        Column::nullable(
            "state_epoch",
            Kind::Int32,
            "Epoch of the state; in snapshots only.",
        ),
        Column::nullable(
            "leader_epoch",
            Kind::Int32,
            "Leader epoch; -1 in an update leaves it as it was.",
        ),
        Column::nullable(
            "start_offset",
            Kind::Int64,
            "Start offset; -1 in a snapshot is not yet resolved, in an update as it was.",
        ),
        Column::nullable(
            "delivery_complete_count",
            Kind::Int32,
            "Terminal records at or after the start offset; -1 when unknown.",
        ),
        Column::nullable(
            "create_timestamp",
            Kind::Timestamp,
            "When the snapshot's content came to be; in snapshots only.",
        ),
        Column::nullable(
            "write_timestamp",
            Kind::Timestamp,
            "When the snapshot was made; in snapshots only.",
        ),
        Column::nullable(
            "batches",
            Kind::Batches,
            "State batches as they are written; null in a tombstone, and where they cannot be read.",
        ),
        Column::nullable(
            "unread_key",
            Kind::Bytes,
            "The key, where its type is not known.",
        ),
        Column::nullable(
            "unread_value",
            Kind::Bytes,
            "The value, where type or version is not known.",
        ),
    ];

    fn cells(&self, to: &mut impl Cells) {
        let key = self.key.as_ref();
        to.put(key.map_or(Cell::Null, |key| Cell::Text(&key.group)));
        to.put(key.map_or(Cell::Null, |key| Cell::TopicId(key.topic_id)));
        to.put(Cell::int32(key.map(|key| key.partition)));
        to.put(Cell::Word(self.kind.name()));
        to.put(Cell::Int64(self.at.offset));
        to.put(Cell::Timestamp(self.at.timestamp));
        to.put(Cell::Int32(self.state_partition.cast_signed()));
        to.put(Cell::Int16(self.record_type));
        to.put(Cell::int16(self.value_version));
        let figures = self.figures();
        let [snapshot_epoch, state_epoch] = figures.epochs;
        to.put(Cell::int32(snapshot_epoch));
        to.put(Cell::int32(state_epoch));
        to.put(Cell::int32(figures.rest.map(|rest| rest.0)));
        to.put(Cell::int64(figures.rest.map(|rest| rest.1)));
        to.put(Cell::int32(figures.rest.map(|rest| rest.2)));
        let [create, write] = figures.times;
        to.put(Cell::timestamp(create));
        to.put(Cell::timestamp(write));
        to.put(figures.batches.map_or(Cell::Null, Cell::Batches));
        to.put(Cell::bytes(self.unread_key.as_deref()));
        to.put(Cell::bytes(self.unread_value.as_deref()));
    }
}
