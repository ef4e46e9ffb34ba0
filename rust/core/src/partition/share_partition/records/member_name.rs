//! The id of a member. Kafka's are UUIDs in base 64, which have 22 characters, so those are kept where the name stands: a
//! comparison follows no pointer.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};

const SHORT: usize = 22;

/// A member id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::partition::share_partition) enum MemberName {
    /// Filled up with zeros.
    Short {
        len: u8,
        bytes: [u8; SHORT],
    },
    Long(Box<str>),
}

const _: () = assert!(
    size_of::<Option<MemberName>>() == 24,
    "a member id takes 24 bytes"
);

impl MemberName {
    pub fn new(name: &str) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..name.len()) {
            Some(start) => {
                start.copy_from_slice(name.as_bytes());
                Self::Short {
                    len: name.len() as u8,
                    bytes,
                }
            }
            None => Self::Long(name.into()),
        }
    }

    #[inline]
    pub fn is(&self, name: &str) -> bool {
        self.as_bytes() == name.as_bytes()
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short { len, bytes } => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Long(name) => name.as_bytes(),
        }
    }

    pub fn as_str(&self) -> &str {
        // It was text when it came.
        str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl Borrow<[u8]> for MemberName {
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// That of the bytes, as [`Borrow`] demands.
impl Hash for MemberName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_name_of_any_length_is_found_again_and_is_no_other() {
        let names: Vec<String> = (1..=40).map(|n| "\u{e9}x".repeat(n)).collect();
        let known: HashMap<MemberName, usize> = names
            .iter()
            .map(|name| MemberName::new(name))
            .zip(0..)
            .collect();
        assert_eq!(known.len(), names.len());
        for (at, name) in names.iter().enumerate() {
            assert_eq!(known.get(name.as_bytes()), Some(&at));
            assert_eq!(MemberName::new(name).as_str(), name);
            assert!(MemberName::new(name).is(name));
            assert!(!MemberName::new(name).is(&format!("{name}\0")));
            assert!(!MemberName::new(&format!("{name}\0")).is(name));
        }
    }
}
