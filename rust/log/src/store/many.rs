//! Many requests in one call: as if made one after the other, but with one wait for the disk where each would have its own.
//! A broker does the same with the share partitions of one request.

use std::collections::BTreeMap;

use share_state_core::coordinator::{CoordinatorError, Decision, ShareCoordinator};
use share_state_core::ids::SharePartitionKey;
use share_state_core::persister::{InitializeState, ReadState, ReadStateResult, WriteState};
use share_state_core::time::WallTime;
use share_state_wire::partitioner::state_partition;

use super::StateStore;
use crate::error::StoreError;

/// An answer for each request, in their order.
pub type Answers<A> = Vec<Result<A, StoreError>>;

impl StateStore {
    /// [`Self::initialize`] of each.
    ///
    /// # Errors
    /// The store cannot be used. What a single request is refused for stands in its answer.
    pub fn initialize_many(
        &self,
        requests: &[(SharePartitionKey, InitializeState)],
        wall: WallTime,
    ) -> Result<Answers<()>, StoreError> {
        self.many(requests, wall, |coordinator, key, request| {
            coordinator.decide_initialize(key, request, true, wall)
        })
    }

    /// [`Self::read`] of each.
    ///
    /// # Errors
    /// As for [`Self::initialize_many`].
    pub fn read_many(
        &self,
        requests: &[(SharePartitionKey, ReadState)],
        wall: WallTime,
    ) -> Result<Answers<ReadStateResult>, StoreError> {
        self.many(requests, wall, |coordinator, key, request| {
            coordinator.decide_read(key, request, true, wall)
        })
    }

    /// [`Self::read`] of each, as the leader after the last one. Answers the leader epoch too. Two callers never get the same.
    ///
    /// # Errors
    /// As for [`Self::initialize_many`].
    pub fn read_many_as_next_leader(
        &self,
        keys: &[(SharePartitionKey, ())],
        wall: WallTime,
    ) -> Result<Answers<(i32, ReadStateResult)>, StoreError> {
        self.many(keys, wall, |coordinator, key, ()| {
            coordinator.decide_read_as_next_leader(key, true, wall)
        })
    }

    /// [`Self::write`] of each.
    ///
    /// # Errors
    /// As for [`Self::initialize_many`].
    pub fn write_many(
        &self,
        requests: &[(SharePartitionKey, WriteState)],
        wall: WallTime,
    ) -> Result<Answers<()>, StoreError> {
        self.many(requests, wall, |coordinator, key, request| {
            coordinator.decide_write(key, request, true, wall)
        })
    }

    /// [`Self::delete`] of each.
    ///
    /// # Errors
    /// As for [`Self::initialize_many`].
    pub fn delete_many(
        &self,
        keys: &[(SharePartitionKey, ())],
        wall: WallTime,
    ) -> Result<Answers<()>, StoreError> {
        self.many(keys, wall, |coordinator, key, ()| {
            coordinator.decide_delete(key, true)
        })
    }

    fn many<T, A>(
        &self,
        requests: &[(SharePartitionKey, T)],
        wall: WallTime,
        decide: impl Fn(
            &ShareCoordinator,
            &SharePartitionKey,
            &T,
        ) -> Result<Decision<A>, CoordinatorError>,
    ) -> Result<Answers<A>, StoreError> {
        let mut by_partition = BTreeMap::<u32, Vec<(usize, &(SharePartitionKey, T))>>::new();
        for (position, request) in requests.iter().enumerate() {
            let index = state_partition(&request.0, self.partition_count());
            by_partition
                .entry(index)
                .or_default()
                .push((position, request));
        }
        let mut answers = Vec::with_capacity(requests.len());
        let mut tickets = Vec::with_capacity(by_partition.len());
        for members in by_partition.into_values() {
            // All of them have the same state partition.
            let Some((_, (key, _))) = members.first() else {
                continue;
            };
            let (_, partition) = self.partition_of(key)?;
            let (given, ticket) = partition.operate_many(
                wall,
                members.iter().map(|(_, (key, request))| {
                    |coordinator: &ShareCoordinator| decide(coordinator, key, request)
                }),
            )?;
            answers.extend(
                members
                    .iter()
                    .zip(given)
                    .map(|((position, _), answer)| (*position, answer)),
            );
            tickets.push((partition, ticket));
        }
        for (partition, ticket) in tickets {
            partition.await_ticket(ticket)?;
        }
        answers.sort_unstable_by_key(|(position, _)| *position);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }
}
