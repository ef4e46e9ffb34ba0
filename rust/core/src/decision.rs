//! Decision of a verb of a machine, made before anything has changed.

use crate::records::ShareRecord;

/// Decision of a verb: the records to append, and the answer to give once they are durable and replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<A, R = ShareRecord> {
    /// Records in the order of appending; often none, never more than one for one key.
    pub records: Vec<R>,
    /// The answer.
    pub answer: A,
}
