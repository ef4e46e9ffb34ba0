//! Many share partitions behind columnar calls: one call for all that a broker does in a round of its loop.

mod acknowledge;
mod acquire;
mod acquired;
mod request_writes;
mod requests;
mod time;
mod visits;
mod writes;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use share_state_core::kafka_code::KafkaCode;

pub use acquired::Acquired;
pub use writes::PendingWrites;

use crate::args::{one, text};
use crate::errors;
use crate::locked::Locked;
use crate::partition::agenda::{Agenda, News};
use crate::partition::inline_writes::CallWrites;
use crate::partition::partition_state::PartitionState;
use crate::partition::share_partition::SharePartition;
use request_writes::RequestWrites;
use visits::{Visit, each_visit};

/// A share partition of the set.
type Home = Arc<Locked<PartitionState>>;

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
/// A share partition can be used by itself too, before, after and between. To release records, follow the log start, take dead
/// letters, acquire with `read_committed` or over a hole in the log, use it so. The writes and locks that its calls lead to come
/// by `poll_writes` and `poll_timeout` of this object. It belongs to one `SharePartitions` at most, and for good.
#[pyclass(frozen, module = "share_state")]
#[derive(Default)]
pub struct SharePartitions {
    homes: RwLock<Vec<Home>>,
    members: RwLock<Members>,
    agenda: Arc<Agenda>,
}

/// Numbers for member ids, so that a column of members is one of integers.
#[derive(Default)]
struct Members {
    index: HashMap<Arc<str>, i32>,
    names: Vec<Arc<str>>,
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
    ) -> PyResult<i32> {
        let py = share_partition.py();
        writes::check_group(py, &share_partition.get().key_of().group)?;
        let home = share_partition.get().state();
        let added = py.detach(|| {
            let mut homes = self.homes.write().unwrap_or_else(PoisonError::into_inner);
            let Ok(index) = i32::try_from(homes.len()) else {
                return Ok(None);
            };
            let joins = |state: &mut PartitionState| state.join(&self.agenda, index as u32);
            let is_free = home.lock().run(joins)?;
            if is_free {
                homes.push(Arc::clone(home));
            }
            Ok(is_free.then_some(index))
        });
        let added =
            added.map_err(|panic: String| errors::poisoned(py, "this SharePartition", &panic))?;
        match added {
            Some(index) => Ok(index),
            None => Err(PyValueError::new_err(format!(
                "{} belongs to a SharePartitions already",
                share_partition.repr()?
            ))),
        }
    }

    /// Return the number of a member, for columns of members. It stays the same.
    fn member(&self, py: Python<'_>, #[pyo3(from_py_with = text)] member: &str) -> i32 {
        py.detach(|| {
            self.members
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .intern(member)
        })
    }
}

impl SharePartitions {
    fn homes(&self) -> RwLockReadGuard<'_, Vec<Home>> {
        self.homes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn members(&self) -> RwLockReadGuard<'_, Members> {
        self.members.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` for each request, in order, taking each share partition's lock once for neighbours; `failed` is called for
    /// every request of a share partition that is unusable. Returns the requests whose write the persister of their share
    /// partition has refused. The caller is detached from the interpreter and has checked that the indexes exist.
    fn each_request<S>(
        &self,
        partitions: &[i32],
        state: &mut S,
        work: impl Fn(&mut S, usize, &mut PartitionState, &mut CallWrites),
        failed: impl Fn(&mut S, usize),
    ) -> Vec<(usize, KafkaCode)> {
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
        all_writes.say();
        all_writes.into_refused()
    }
}

impl Members {
    /// The number of a member.
    fn intern(&mut self, name: &str) -> i32 {
        if let Some(number) = self.index.get(name) {
            return *number;
        }
        let name: Arc<str> = Arc::from(name);
        let number = self.names.len() as i32;
        self.names.push(Arc::clone(&name));
        self.index.insert(name, number);
        number
    }

    fn name(&self, number: i32) -> Option<&str> {
        let number = usize::try_from(number).ok()?;
        self.names.get(number).map(|name| &**name)
    }
}
