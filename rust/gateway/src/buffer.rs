//! Bytes that do not change, held by all that refer to a part of them.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

/// The frame of an answer, or whatever else holds record batches: shared, never written again. A clone is another holder of
/// the same bytes.
#[derive(Clone)]
pub struct Buffer(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Buffer {
    /// Takes `bytes` without a copy.
    #[must_use]
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(bytes))
    }

    /// All of the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        (*self.0).as_ref()
    }

    /// Some of the bytes; none where `range` lies outside.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> &[u8] {
        self.bytes().get(range).unwrap_or_default()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.bytes().len())
    }
}
