//! Bytes that may still be spent on what merely looks like a batch, so that no file takes forever.

use std::io::{self, Seek, SeekFrom};

pub(crate) struct Budget(u64);

impl Budget {
    /// Eight times the size of the file.
    pub fn for_file(source: &mut impl Seek) -> io::Result<Self> {
        source
            .seek(SeekFrom::End(0))
            .map(|end| Self(end.saturating_mul(8)))
    }

    /// Spends so many, if they are left.
    pub fn spend(&mut self, bytes: u64) -> bool {
        let rest = self.0.checked_sub(bytes);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn what_is_left_is_spent_to_the_last_byte() {
        let mut budget = Budget::for_file(&mut Cursor::new([0; 3])).unwrap();
        assert!(budget.spend(20));
        assert!(!budget.spend(5), "and nothing is spent");
        assert!(budget.spend(4));
        assert!(!budget.spend(1));
    }
}
