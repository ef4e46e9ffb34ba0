//! Locks of many share partitions that run out.

use pyo3::prelude::*;

use super::SharePartitions;
use super::settling::Settlings;
use crate::agenda::News;
use crate::args::LockMs;
use crate::engine::each;

#[pymethods]
impl SharePartitions {
    /// When to call `handle_timeout` next, in ms on the caller's monotonic clock; `None` when no lock runs.
    ///
    /// It may be early, where a lock was renewed or its records settled, never late.
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
            let mut settlings = Settlings::default();
            for index in self.agenda.take_due(now_ms.0) {
                let Some(home) = homes.get(index as usize) else {
                    continue;
                };
                // One that is unusable after a bug says so when it is asked for something.
                let done = home.shared.for_set(|watched| {
                    watched.unawait();
                    let records = each!(&mut watched.engine, sp => sp.handle_timeout(now_ms.0));
                    settlings.settle(watched, index, 0);
                    (records, watched.news())
                });
                if let Ok((ran_out, news)) = done {
                    records += ran_out;
                    all_news.push((index, news));
                }
            }
            settlings.end(&homes, &mut all_news);
            self.agenda.extend(&all_news);
            drop(homes);
            settlings.say();
            records
        })
    }
}
