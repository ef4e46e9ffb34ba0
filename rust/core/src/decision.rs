//! What a verb of a machine decided, before anything has changed.

use crate::records::ShareRecord;

/// What a verb decided: the records to append, and the answer to give once they are durable and replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<A, R = ShareRecord> {
    /// Records in the order of appending; often none, never more than one for one key.
    pub records: Vec<R>,
    /// The answer.
    pub answer: A,
}
