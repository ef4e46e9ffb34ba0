//! Anomalies that a finder would tell if the log ended now, and those that it lets go.

use std::sync::Arc;

use super::{Context, Finder, cold_key};
use crate::anomaly::config::AnomalyConfig;
use crate::anomaly::row::Anomaly;
use crate::anomaly::suspicion::{OfLife, Suspicion};
use crate::anomaly::verdict;

impl Finder {
    /// Goes on with other thresholds. Of what was found, what the new delivery limits allow is not told any more.
    pub fn configure(&mut self, config: Arc<AnomalyConfig>) {
        self.config = config;
    }

    /// Says what lasts, and what was not over before `since_ms`, as if the log ended here; what [`Self::record`] told is not
    /// among it. Nothing is taken out.
    pub fn standing(&self, since_ms: i64, out: &mut Vec<Anomaly>) {
        let Some((state_partition, end)) = self.current else {
            return;
        };
        let of_window = |said: &[Suspicion]| -> Vec<Suspicion> {
            let all = said.iter().filter(|one| one.lasts_until(since_ms));
            all.cloned().collect()
        };
        let tell = |of: OfLife, out: &mut Vec<Anomaly>| {
            if !of.all.is_empty() {
                verdict::tell(&of, &self.config, &self.limits, out);
            }
        };
        for of in &self.suspicions {
            let (key, all) = (of.key.clone(), of_window(&of.all));
            tell(OfLife { key, all, ..*of }, out);
        }
        for (key, live) in &self.live {
            let on = Context {
                config: &self.config,
                beside: &self.beside,
                key,
                state_partition,
                limits: &self.limits,
            };
            let mut all = of_window(&live.life.suspicions);
            live.life.lasting(on, end, out, &mut all);
            all.retain(|one| one.lasts_until(since_ms));
            let key = key.clone();
            tell(
                OfLife {
                    key,
                    state_partition,
                    all,
                },
                out,
            );
        }
        let cold = cold_key(self.live.iter(), end, &self.config);
        out.extend(cold.map(|(key, found)| found.of(key, state_partition)));
    }

    /// Lets go what was over before.
    pub fn forget_before(&mut self, ms: i64) {
        for live in self.live.values_mut() {
            let all = &mut live.life.suspicions;
            all.retain(|one| one.lasts_until(ms));
            all.shrink_to(2 * all.len());
        }
        for of in &mut self.suspicions {
            of.all.retain(|one| one.lasts_until(ms));
        }
        self.suspicions.retain(|of| !of.all.is_empty());
        self.suspicions.shrink_to(2 * self.suspicions.len());
    }

    /// Times at which that was over which [`Self::forget_before`] may let go, in no order, ms since the epoch.
    pub fn over(&self) -> impl Iterator<Item = i64> + '_ {
        let of_live = self.live.values().flat_map(|live| &live.life.suspicions);
        let of_others = self.suspicions.iter().flat_map(|of| &of.all);
        of_live.chain(of_others).filter_map(|one| one.until)
    }
}
