//! Numbers for member ids, so that a column of members is one of integers.

use std::collections::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub struct Members {
    index: HashMap<Arc<str>, i32>,
    names: Vec<Option<Arc<str>>>,
    free: Vec<i32>,
}

impl Members {
    /// The number of a member; `None` for the empty id, which no member has.
    pub fn intern(&mut self, name: &str) -> Option<i32> {
        if name.is_empty() {
            return None;
        }
        if let Some(number) = self.index.get(name) {
            return Some(*number);
        }
        let name: Arc<str> = Arc::from(name);
        let number = match self.free.pop() {
            Some(number) => number,
            None => {
                let number = i32::try_from(self.names.len()).ok()?;
                self.names.push(None);
                number
            }
        };
        self.names[number as usize] = Some(Arc::clone(&name));
        self.index.insert(name, number);
        Some(number)
    }

    pub fn forget(&mut self, name: &str) -> bool {
        let Some(number) = self.index.remove(name) else {
            return false;
        };
        self.names[number as usize] = None;
        self.free.push(number);
        true
    }

    pub fn name(&self, number: i32) -> Option<&str> {
        usize::try_from(number)
            .ok()
            .and_then(|number| self.names.get(number))
            .and_then(Option::as_deref)
    }
}
