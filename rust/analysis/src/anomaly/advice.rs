//! Advice for each kind of anomaly: what to look at, or to do.

use share_state_core::record_state::RecordState;
use share_state_core::state_batch::StateBatch;

use super::AnomalyKind;

impl AnomalyKind {
    /// Returns what to look at, or to do. That of a start offset that is stuck depends on what holds it; see [`holder`].
    #[must_use]
    pub(super) const fn advice(self) -> &'static str {
        match self {
            Self::StartOffsetStuck => "Look at the record that holds it.",
            Self::PoisonRecord => {
                "Read the record and see why no member accepts it; mend the consumer, or let it reject such a record at once. \
                 With Kafka 4.4 a dead-letter queue (errors.deadletterqueue.topic.name) would keep it."
            }
            Self::LateOrPoison => {
                "Compare the group's lock duration (share.record.lock.duration.ms) with the time that members take first: if they \
                 take longer, raise it, let them take fewer records at a time (max.poll.records), or renew the lock (KIP-1222). \
                 Their own logs may tell whether they accepted the record too late (INVALID_RECORD_STATE); if not, read the record. \
                 Where the lock duration is not given, give it (record_lock_duration_ms): it decides more of these."
            }
            Self::ArchiveBurst => {
                "Look at what the members depend on (a database, a service) at that time rather than at single records, and \
                 read these offsets again from the topic once it is mended: the group will not deliver them."
            }
            Self::LockExpiryLoop => {
                "Members take longer than the lock lasts, or hang: raise share.record.lock.duration.ms, take fewer records at \
                 a time (max.poll.records), or renew the lock (KIP-1222). The log does not tell a release from a lock that ran \
                 out."
            }
            Self::WindowFull => {
                "Nothing more is delivered until the start offset moves: look at what holds it. More locks \
                 (share.partition.max.record.locks) gain time. Where the group's limit is not given, give it \
                 (max_record_locks)."
            }
            Self::StartOffsetWentBack => {
                "Records that were passed may be delivered again. Brokers before 4.4 may write this (KAFKA-20733): upgrade \
                 them. On 4.4 keep the segment and report it to Kafka."
            }
            Self::EpochWentBack => {
                "Two brokers may have led this partition of the state topic at once, or a tool wrote to it: compare the leader \
                 epochs of its batches, and do not trust what was accepted at that time."
            }
            Self::StateWentBack => {
                "Settled records may be delivered again. No released Kafka is known to write this: see which broker or tool \
                 wrote the state topic, and keep the segment."
            }
            Self::CountDisagrees => {
                "The lag that Kafka shows (end offset - start offset - this count) is too high by at least the difference. \
                 Brokers before 4.4 may write too small a count (KAFKA-20749): upgrade them. A later write may mend it."
            }
            Self::Gap => {
                "Normal for offsets that hold no record for this group (compacted, aborted, or a transaction's marker). \
                 Otherwise a member has held them since their first delivery: look for one that hangs or renews its locks for \
                 long."
            }
            Self::MissingSnapshot => {
                "If the log was copied in part, take all segments from the log start offset on. A broker would load this state \
                 as incomplete as it is here."
            }
            Self::ColdKey => {
                "A write for this share partition, or a broker's cold snapshot \
                 (share.coordinator.cold.partition.snapshot.interval.ms), frees them; if the group is not needed, delete it."
            }
            Self::GrowingLag => {
                "Members take less than is produced: add members, let each take more (max.poll.records, \
                 share.partition.max.record.locks), or see what slows them. Where the start offset stands still, look at what \
                 holds it."
            }
            Self::DeletedTopic => {
                "Brokers delete the state of a deleted topic once its group hears of it. If this stays, delete the group's \
                 offsets of the topic (kafka-share-groups.sh --delete-offsets), or the group; if the list of topics was not \
                 whole, mend the list."
            }
        }
    }
}

/// Advice for a burst of which most records may have been accepted too late.
pub(super) const LATE_BURST: &str = "Compare the group's lock duration (share.record.lock.duration.ms) with the time that members took at \
    that time first: a member that hangs, or answers too late, loses all records that it holds at once. Then look at what the \
    members depend on (a database, a service), and read these offsets again from the topic: the group will not deliver them.";

/// Returns what holds a start offset, and what to do about it; nothing is known of the offset where there is no batch.
pub(super) fn holder(batch: Option<StateBatch>) -> (String, &'static str) {
    let Some(batch) = batch else {
        return (
            "nothing was ever written about it: a member has held it since its first delivery, or it was never delivered"
                .to_owned(),
            "Find the member that holds it (one that hangs, or renews its lock again and again) and restart it; if the offset \
             holds no record for this group, the next fetch passes it.",
        );
    };
    if RecordState::from_id(batch.delivery_state) == Some(RecordState::Archiving) {
        return (
            "its dead-letter write is not finished".to_owned(),
            "See whether the dead-letter topic exists and takes writes; until then the start offset cannot pass it.",
        );
    }
    let count = batch.delivery_count;
    let deliveries = if count == 1 { "delivery" } else { "deliveries" };
    (
        format!("available after {count} {deliveries}"),
        "Read that record: members give it back, or their locks run out on it. It goes when it is accepted, rejected, or \
         delivered as often as the limit allows.",
    )
}
