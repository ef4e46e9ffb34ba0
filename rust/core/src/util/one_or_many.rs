//! A list that is mostly one item long, and then allocates nothing.

/// None, one or many items.
#[derive(Clone, Debug)]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T: Copy> OneOrMany<T> {
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Many(items) => items,
        }
    }

    pub fn into_list(self) -> Vec<T> {
        match self {
            Self::One(item) => vec![item],
            Self::Many(items) => items,
        }
    }

    pub fn last_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::One(item) => Some(item),
            Self::Many(items) => items.last_mut(),
        }
    }

    #[inline]
    pub fn push(&mut self, item: T) {
        match self {
            Self::One(first) => *self = Self::Many(vec![*first, item]),
            Self::Many(items) if items.is_empty() => *self = Self::One(item),
            Self::Many(items) => items.push(item),
        }
    }

    /// Keeps the first `at` items and returns the others.
    pub fn split_off(&mut self, at: usize) -> Self {
        match self {
            Self::One(_) if at > 0 => Self::default(),
            Self::One(_) => std::mem::take(self),
            Self::Many(items) => Self::Many(items.split_off(at.min(items.len()))),
        }
    }
}
