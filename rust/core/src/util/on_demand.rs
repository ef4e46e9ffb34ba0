//! Parts that are made when they are first needed, so that a share partition that does not need them does not pay for them:
//! a broker has a hundred thousand share partitions, and most of them rest.

/// A part that may not have been made yet.
#[derive(Clone, Debug)]
pub(crate) struct OnDemand<T>(Option<Box<T>>);

impl<T> Default for OnDemand<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Default> OnDemand<T> {
    /// The part, if it was made.
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    /// The part, if it was made, to be changed.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    /// The part, made now if need be.
    #[inline]
    pub fn make(&mut self) -> &mut T {
        self.0.get_or_insert_with(Self::fresh)
    }

    #[cold]
    #[inline(never)]
    fn fresh() -> Box<T> {
        Box::default()
    }
}
