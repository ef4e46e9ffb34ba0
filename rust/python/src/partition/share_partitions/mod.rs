//! Many share partitions behind columnar calls: one call for all that a broker does in a round of its loop.

mod acknowledge;
mod acquire;
mod acquired;
mod homes;
mod members;
mod per_request;
mod request_writes;
mod requests;
mod time;
mod visits;
mod writes;

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use share_state_core::kafka_code::KafkaCode;

pub use acquired::Acquired;
pub use writes::PendingWrites;

use crate::args::{Int, one, text};
use crate::errors;
use crate::partition::agenda::{Agenda, News};
use crate::partition::inline_writes::CallWrites;
use crate::partition::partition_state::PartitionState;
use crate::partition::share_partition::SharePartition;
use homes::{Home, Homes};
use members::Members;
use request_writes::RequestWrites;
use visits::{Visit, each_visit};

/// The share partitions of a leader, for calls on many of them at once.
///
/// Everything goes in and out in columns; no object is made for an element. A column is whatever `numpy.asarray` shows as an
/// array of the dtype named, without a conversion: an array, a `memoryview`, an Arrow array without nulls. One that is long and
/// contiguous is not copied.
///
/// A row names a share partition by its index (int32), the number that `add` returned, and a member by the number that
/// `member` returned (int32). A *request* is what one member asks of one share partition. Requests are carried out in the order
/// of the columns; those of neighbours in the columns that name the same share partition are cheapest. A request that is refused
/// has changed nothing and gets Kafka's code; the others are carried out.
///
/// Each share partition keeps the lock of its own: two threads in two calls wait for each other only where they name the same
/// one. All calls run without the interpreter.
///
/// A share partition can be used by itself too, before, after and between: `share_partitions[index]` gives it. To release records,
/// follow the log start, take dead letters or acquire with `read_committed`, use it so. The writes and locks that its calls lead to
/// come by `poll_writes` and `poll_timeout` of this object. It belongs to one `SharePartitions` at most, and for good.
#[pyclass(frozen, module = "share_state")]
#[derive(Default)]
pub struct SharePartitions {
    homes: RwLock<Homes>,
    members: RwLock<Members>,
    agenda: Arc<Agenda>,
}

/// The code of a request whose share partition is unusable after a bug.
const POISONED: i16 = KafkaCode::UnknownServerError.code();

#[pymethods]
impl SharePartitions {
    #[new]
    #[pyo3(signature = ())]
    fn new() -> Self {
        Self::default()
    }

    /// Take a share partition in.
    ///
    /// Returns:
    ///     Its index: 0 for the first, then 1, and so on.
    ///
    /// Raises:
    ///     ValueError: it belongs to a `SharePartitions` already.
    ///     InvalidRequestError: the group id is too long for a request; `field` is `group`.
    fn add(
        &self,
        #[pyo3(from_py_with = one)] share_partition: &Bound<'_, SharePartition>,
    ) -> PyResult<u32> {
        let py = share_partition.py();
        writes::check_group(py, &share_partition.get().key_of().group)?;
        let state = Arc::clone(share_partition.get().state());
        let object = share_partition.clone().unbind();
        let added = py.detach(|| {
            let mut homes = self.homes.write().unwrap_or_else(PoisonError::into_inner);
            let Some(index) = homes.next_index() else {
                return Ok(None);
            };
            let joins = |state: &mut PartitionState| state.join(&self.agenda, index);
            if !state.lock().run(joins)? {
                return Ok(None);
            }
            homes.push(Home::new(state, object));
            Ok(Some(index))
        });
        let added =
            added.map_err(|panic: String| errors::poisoned(py, "this SharePartition", &panic))?;
        let Some(index) = added else {
            return Err(PyValueError::new_err(format!(
                "{} belongs to a SharePartitions already",
                share_partition.repr()?
            )));
        };
        // What it was used for before it came here.
        share_partition.get().attached(py, |_| ())?;
        Ok(index)
    }

    /// Let a share partition go, as when its topic is deleted or its group is gone.
    ///
    /// From now on its index names nothing, in calls that had begun elsewhere too: their rows of it get -1. No other share
    /// partition gets the index. Writes of it that were polled are answered by nobody: `handle_write_results` passes over their
    /// rows, which get 42; those that were not polled are gone with it, unless they are polled of the share partition itself. It
    /// cannot join a `SharePartitions` again.
    ///
    /// Returns:
    ///     The share partition.
    ///
    /// Raises:
    ///     IndexError: the index names none.
    fn remove(&self, py: Python<'_>, index: Int<i64>) -> PyResult<Py<SharePartition>> {
        let removed = usize::try_from(index.0).ok().and_then(|index| {
            py.detach(|| {
                let mut homes = self.homes.write().unwrap_or_else(PoisonError::into_inner);
                homes.remove(index)
            })
        });
        removed.ok_or_else(|| self.no_home(index.0))
    }

    /// Number of share partitions, removed ones not counted.
    fn __len__(&self) -> usize {
        self.homes().present()
    }

    /// The share partitions in the order of their indexes, removed ones left out.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let objects: Vec<Py<SharePartition>> = {
            let homes = self.homes();
            let objects = homes.iter().filter_map(|home| home.object.as_ref());
            objects.map(|object| object.clone_ref(py)).collect()
        };
        PyList::new(py, objects)?.try_iter()
    }

    /// The share partition with this index.
    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<Py<SharePartition>> {
        let found = {
            let homes = self.homes();
            let home = usize::try_from(index)
                .ok()
                .and_then(|index| homes.get(index));
            home.and_then(|home| Some(home.object.as_ref()?.clone_ref(py)))
        };
        found.ok_or_else(|| self.no_home(index as i64))
    }

    /// The number of a member, for columns of members.
    ///
    /// Raises:
    ///     InvalidRequestError: the id is empty; `field` is `member`.
    fn member(&self, py: Python<'_>, #[pyo3(from_py_with = text)] member: &str) -> PyResult<i32> {
        py.detach(|| {
            self.members
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .intern(member)
        })
        .ok_or_else(|| requests::empty_member(py))
    }

    /// Forget a member that has left. Its number may be given to another one.
    ///
    /// It is not released: that is what `release` of a share partition does.
    ///
    /// Returns:
    ///     Whether it was known.
    fn forget_member(&self, py: Python<'_>, #[pyo3(from_py_with = text)] member: &str) -> bool {
        py.detach(|| {
            self.members
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .forget(member)
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "SharePartitions({} share partitions)",
            self.homes().present()
        )
    }
}

impl SharePartitions {
    fn homes(&self) -> RwLockReadGuard<'_, Homes> {
        self.homes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn no_home(&self, index: i64) -> PyErr {
        let len = self.homes().len();
        if (0..len as i64).contains(&index) {
            return PyIndexError::new_err(format!("{index} was removed"));
        }
        PyIndexError::new_err(match len {
            0 => format!("{index} is the index of no share partition; none was added"),
            _ => format!(
                "{index} is the index of no share partition; expected 0 to {}",
                len - 1
            ),
        })
    }

    fn members(&self) -> RwLockReadGuard<'_, Members> {
        self.members.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` for each request, in order, taking each share partition's lock once for neighbours; `failed` is called for
    /// every request of a share partition that is unusable, and `refused` for one whose write was refused by the persister of
    /// its share partition, later than either. The caller is detached from the interpreter and has checked that the indexes exist.
    fn each_request<S>(
        &self,
        partitions: &[i32],
        state: &mut S,
        work: impl Fn(&mut S, usize, &mut PartitionState, &mut CallWrites),
        failed: impl Fn(&mut S, usize),
        refused: impl Fn(&mut S, usize, KafkaCode),
    ) {
        let homes = self.homes();
        let mut all_writes = RequestWrites::default();
        let mut all_news: Vec<(u32, News)> = Vec::new();
        each_visit(&homes, partitions, |visit| {
            let Visit { index, rows, lock } = visit;
            let done = lock.run(|share_partition| {
                for request in rows.clone() {
                    work(state, request, share_partition, all_writes.at_hand());
                    all_writes.settle(share_partition, index, request);
                }
                share_partition.news()
            });
            match done {
                Ok(news) if news.is_any() => all_news.push((index, news)),
                Ok(_) => {}
                Err(_) => rows.for_each(|request| failed(state, request)),
            }
        });
        all_writes.end(&homes, &mut all_news);
        self.agenda.extend(&all_news);
        drop(homes);
        for (request, code) in all_writes.for_members() {
            refused(state, *request, *code);
        }
        all_writes.say();
    }
}
