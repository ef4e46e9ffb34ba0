//! Assignment: the partitions, by topic, that a member of a share group is to consume.

use crate::ids::TopicId;

/// Partitions by topic, both ascending and without repetition; a topic without partitions is not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment(Vec<(TopicId, Vec<i32>)>);

impl Assignment {
    /// No partition.
    pub const EMPTY: Self = Self(Vec::new());

    /// Returns `true` if it has no partition.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of partitions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|(_, partitions)| partitions.len()).sum()
    }

    /// Each topic with its partitions.
    pub fn topics(&self) -> impl ExactSizeIterator<Item = (TopicId, &[i32])> {
        self.0.iter().map(|(id, partitions)| (*id, &partitions[..]))
    }

    /// Each partition, in ascending order.
    pub fn partitions(&self) -> impl Iterator<Item = (TopicId, i32)> {
        self.topics()
            .flat_map(|(id, partitions)| partitions.iter().map(move |p| (id, *p)))
    }

    /// Returns `true` if the partition is in it.
    #[must_use]
    pub fn contains(&self, topic_id: TopicId, partition: i32) -> bool {
        self.of(topic_id).binary_search(&partition).is_ok()
    }

    /// The partitions of one topic.
    #[must_use]
    pub fn of(&self, topic_id: TopicId) -> &[i32] {
        match self.0.binary_search_by_key(&topic_id, |(id, _)| *id) {
            Ok(at) => &self.0[at].1,
            Err(_) => &[],
        }
    }

    /// Returns the part of it whose topics `keep` names.
    #[must_use]
    pub fn restricted(&self, keep: impl Fn(TopicId) -> bool) -> Self {
        Self(self.0.iter().filter(|(id, _)| keep(*id)).cloned().collect())
    }
}

impl FromIterator<(TopicId, i32)> for Assignment {
    /// Takes partitions in any order, repeated ones once.
    fn from_iter<I: IntoIterator<Item = (TopicId, i32)>>(partitions: I) -> Self {
        let mut all: Vec<_> = partitions.into_iter().collect();
        all.sort_unstable();
        all.dedup();
        let mut topics: Vec<(TopicId, Vec<i32>)> = Vec::new();
        for (id, partition) in all {
            match topics.last_mut() {
                Some((last, partitions)) if *last == id => partitions.push(partition),
                _ => topics.push((id, vec![partition])),
            }
        }
        Self(topics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TopicId = TopicId([1; 16]);
    const B: TopicId = TopicId([2; 16]);

    #[test]
    fn partitions_come_in_order_and_once() {
        let assignment: Assignment = [(B, 1), (A, 7), (B, 0), (A, 7)].into_iter().collect();
        let partitions: Vec<_> = assignment.partitions().collect();
        assert_eq!(partitions, [(A, 7), (B, 0), (B, 1)]);
        assert_eq!((assignment.len(), assignment.of(B)), (3, &[0, 1][..]));
        assert!(assignment.contains(A, 7) && !assignment.contains(A, 0));
        let only_a = assignment.restricted(|id| id == A);
        assert_eq!(only_a.partitions().collect::<Vec<_>>(), [(A, 7)]);
        assert!(assignment.restricted(|_| false).is_empty());
    }
}
