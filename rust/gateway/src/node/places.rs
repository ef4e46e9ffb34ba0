//! Places of keys in a list, for requests that name a topic or a partition several times.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use share_state_core::ids::QuickHash;

/// Lists of at most this many keys are searched one by one.
const FEW: usize = 8;

/// Places of keys in a list that grows at its end. Most lists have one key, and need no table.
pub(super) struct Places<K>(HashMap<K, usize, QuickHash>);

impl<K> Default for Places<K> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<K: Copy + Eq + Hash> Places<K> {
    /// The place of `key` in `list`; `None` if it is not there, and the caller puts it at the end.
    pub fn place(&mut self, key: K, mut list: impl ExactSizeIterator<Item = K>) -> Option<usize> {
        let count = list.len();
        if count <= FEW {
            return list.position(|known| known == key);
        }
        if self.0.is_empty() {
            let places = list.enumerate().map(|(place, key)| (key, place));
            self.0.extend(places);
        }
        let known = self.0.len();
        debug_assert_eq!(known, count, "a list grows by what is not in it");
        match self.0.entry(key) {
            Entry::Occupied(place) => Some(*place.get()),
            Entry::Vacant(end) => {
                end.insert(known);
                None
            }
        }
    }
}
