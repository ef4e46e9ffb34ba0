//! The target of an answer: it is written once to count its bytes, and once into memory of exactly that size.

/// Takes bytes in their order.
pub(super) trait Sink {
    fn put(&mut self, bytes: &[u8]);

    /// An unsigned number in groups of seven bits.
    fn unsigned(&mut self, mut value: u64) {
        let mut groups = [0u8; 10];
        let mut used = 0;
        for group in &mut groups {
            used += 1;
            *group = (value & 0x7f) as u8;
            value >>= 7;
            if value == 0 {
                break;
            }
            *group |= 0x80;
        }
        self.put(groups.get(..used).unwrap_or_default());
    }

    /// A compact string or null, once its length was checked.
    fn string(&mut self, text: Option<&str>) {
        match text {
            None => self.put(&[0]),
            Some(text) => {
                self.unsigned(text.len() as u64 + 1);
                self.put(text.as_bytes());
            }
        }
    }

    /// The count of a compact array.
    fn array_len(&mut self, count: usize) {
        self.unsigned(count as u64 + 1);
    }

    fn i16(&mut self, value: i16) {
        self.put(&value.to_be_bytes());
    }

    fn i32(&mut self, value: i32) {
        self.put(&value.to_be_bytes());
    }

    fn i64(&mut self, value: i64) {
        self.put(&value.to_be_bytes());
    }

    /// Tagged fields, of which there are none.
    fn no_tags(&mut self) {
        self.put(&[0]);
    }
}

/// Counts.
#[derive(Default)]
pub(super) struct Count(pub usize);

impl Sink for Count {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

/// Fills memory from its beginning.
pub(super) struct Fill<'a>(pub &'a mut [u8]);

impl Sink for Fill<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        // The same walk has counted the bytes, so there is room.
        if let Some((head, rest)) = core::mem::take(&mut self.0).split_at_mut_checked(bytes.len()) {
            head.copy_from_slice(bytes);
            self.0 = rest;
        }
    }
}
