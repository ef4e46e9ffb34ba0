//! Partitions that the answer to a ShareFetch request lists.

use super::context::Kind;
use super::{ShareFetchContext, ShareSessions, TopicIdPartition};

/// Outcome of a partition that was fetched or acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The partition.
    pub id: TopicIdPartition,
    /// There are records for the member.
    pub has_records: bool,
    /// Its `ErrorCode` is not 0.
    pub has_error: bool,
    /// The request has brought acknowledgements for it.
    pub acknowledged: bool,
}

impl ShareSessions {
    /// Returns the partitions that the answer lists, in the order of `outcomes`
    /// (`ShareSessionContext.updateAndGenerateResponseData`).
    ///
    /// The answer to the request that has opened the session lists all, the one to a final request what was acknowledged. Any
    /// other lists a partition that has records, an error or acknowledgements, that is new in the session, or whose last
    /// listing had an error; a partition with records goes to the end of the session's order.
    ///
    /// `None` when another request was admitted meanwhile, or when the session is gone or has been replaced: the member does not
    /// wait for this answer any more, and gets INVALID_SHARE_SESSION_EPOCH. Nothing has changed then.
    pub fn answer(
        &mut self,
        context: &ShareFetchContext,
        outcomes: &[Outcome],
    ) -> Option<Vec<bool>> {
        let (serial, next_epoch) = match context.kind {
            Kind::Full => return Some(vec![true; outcomes.len()]),
            Kind::Final => {
                return Some(
                    outcomes
                        .iter()
                        .map(|outcome| outcome.acknowledged)
                        .collect(),
                );
            }
            Kind::Incremental { serial, next_epoch } => (serial, next_epoch),
        };
        let session = self
            .session_mut(&context.key.group, &context.key.member)
            .filter(|session| session.serial == serial && session.next_epoch == next_epoch)?;
        let partitions = &mut session.partitions;
        let listed = outcomes.iter().map(|outcome| {
            let Outcome {
                id,
                has_records,
                has_error,
                acknowledged,
            } = *outcome;
            // Most partitions of most answers have no news; they are not even looked up.
            let required = if has_error || partitions.any_marked() {
                partitions.mark(id, has_error).unwrap_or(false)
            } else {
                false
            };
            if has_records {
                partitions.move_to_end(id);
            }
            has_records || has_error || acknowledged || required
        });
        Some(listed.collect())
    }
}
