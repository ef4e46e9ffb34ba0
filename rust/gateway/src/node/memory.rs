//! Memory of the rings: all together stay within a budget, and those that nobody uses give theirs back.

use share_state_core::time::LockTime;

use super::Node;
use super::names::SourceKey;

/// Part of the budget that arrives between two looks at all rings.
const PART: usize = 16;
/// Time after which a ring that nobody has asked for records is emptied, ms.
const SILENT_MS: i64 = 60_000;

impl Node {
    /// Counts bytes that have come into a ring, and keeps all rings within their budget from time to time, at the cost of those that
    /// were asked for records longest ago. The ring itself stays as it is: somebody wants what has come.
    pub(super) fn bound_rings(&mut self, fed: SourceKey, bytes: usize) {
        self.sources.arrived += bytes;
        if self.sources.arrived < self.limits.rings / PART {
            return;
        }
        self.sources.arrived = 0;
        let all = self.sources.all();
        let mut rings: Vec<_> = all
            .map(|(key, source)| (source.asked_at, source.ring.held_bytes(), key))
            .collect();
        rings.sort_unstable_by_key(|(asked_at, ..)| *asked_at);
        let held: usize = rings.iter().map(|(_, held, _)| held).sum();
        let mut excess = held.saturating_sub(self.limits.rings);
        for (_, held, key) in rings.into_iter().filter(|(.., key)| *key != fed) {
            if excess == 0 {
                return;
            }
            excess = excess.saturating_sub(held);
            self.sources.restart(key);
            // A fetch that waits there for more has all of it read again.
            self.wake_source(key);
        }
    }

    /// Empties the rings that nobody has asked for records for a time, whatever they still want: who wanted that is gone. In the
    /// others, copies what little is left of large frames.
    pub(super) fn tidy_rings(&mut self, now: LockTime) {
        let silent_since = Some(now.plus(-SILENT_MS));
        for key in self.sources.keys() {
            let Some(source) = self.sources.get_mut(key) else {
                continue;
            };
            if source.asked_at < silent_since {
                self.sources.restart(key);
            } else {
                source.ring.compact();
            }
        }
    }
}
