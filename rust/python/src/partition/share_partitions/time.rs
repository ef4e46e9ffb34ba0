//! Locks of many share partitions that run out.

use pyo3::prelude::*;

use super::SharePartitions;
use super::request_writes::RequestWrites;
use crate::args::LockMs;
use crate::partition::agenda::News;
use crate::partition::engine::each;

#[pymethods]
impl SharePartitions {
    /// Return the time to call `handle_timeout` next, in ms on the caller's monotonic clock; `None` when no lock runs.
    ///
    /// It may be early, where a lock was renewed or its records acknowledged, never late.
    fn poll_timeout(&self, py: Python<'_>) -> Option<i64> {
        py.detach(|| self.agenda.next_deadline())
            .map(|deadline| deadline.0)
    }

    /// Let due locks run out in all share partitions (Kafka: `SharePartition.releaseAcquisitionLockOnTimeout`). Share partitions
    /// of which nothing is due are not touched.
    ///
    /// Returns:
    ///     The number of records whose lock ran out; the writes come by `poll_writes`.
    #[pyo3(signature = (*, now_ms))]
    fn handle_timeout(&self, py: Python<'_>, now_ms: LockMs) -> u64 {
        py.detach(|| {
            let homes = self.homes();
            let mut all_news: Vec<(u32, News)> = Vec::new();
            let mut records = 0;
            let mut all_writes = RequestWrites::default();
            for index in self.agenda.take_due(now_ms.0) {
                let Some(home) = homes.get(index as usize) else {
                    continue;
                };
                // One that is unusable after a bug says so when it is asked for something.
                let done = home.lock().run(|share_partition| {
                    share_partition.unawait();
                    let records =
                        each!(&mut share_partition.engine, sp => sp.handle_timeout(now_ms.0));
                    all_writes.settle(share_partition, index, 0);
                    (records, share_partition.news())
                });
                if let Ok((ran_out, news)) = done {
                    records += ran_out;
                    all_news.push((index, news));
                }
            }
            all_writes.end(&homes, &mut all_news);
            self.agenda.extend(&all_news);
            drop(homes);
            all_writes.say();
            records
        })
    }
}
