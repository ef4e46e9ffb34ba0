//! Rules of access, as far as members of share groups meet them (KIP-290): who may read which group and which topic.
//!
//! The table is a snapshot that the control plane swaps whole; it keeps the rules of the other operations to itself.

use std::collections::HashSet;
use std::sync::Arc;

/// Principal that stands for everybody in a rule.
const EVERYBODY: &str = "User:*";

/// Type of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A topic.
    Topic,
    /// A group.
    Group,
}

/// A rule on READ or on ALL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The principal, such as `User:alice`; `User:*` for everybody.
    pub principal: Arc<str>,
    /// Type of the resource.
    pub resource: Resource,
    /// Name of the resource; `*` for every one of the type.
    pub name: Arc<str>,
    /// Mark of a name that is the beginning of names, `*` too.
    pub prefixed: bool,
    /// Mark of a rule that allows; one that denies wins over any that allows.
    pub allow: bool,
}

/// The rules. Without a table everybody who is let in may do everything.
#[derive(Clone, Debug, Default)]
pub struct Access {
    rules: Option<Vec<Rule>>,
    super_users: HashSet<Arc<str>>,
}

impl Access {
    /// A table of rules, and principals that may do everything.
    #[must_use]
    pub fn new(rules: Vec<Rule>, super_users: impl IntoIterator<Item = Arc<str>>) -> Self {
        Self {
            rules: Some(rules),
            super_users: super_users.into_iter().collect(),
        }
    }

    /// Returns `true` if the principal may read the resource.
    #[must_use]
    pub fn may_read(&self, principal: &str, resource: Resource, name: &str) -> bool {
        let Some(rules) = &self.rules else {
            return true;
        };
        if self.super_users.contains(principal) {
            return true;
        }
        let mut allowed = false;
        for rule in rules {
            if rule.resource != resource || !rule.names(principal, name) {
                continue;
            }
            if !rule.allow {
                return false;
            }
            allowed = true;
        }
        allowed
    }
}

impl Rule {
    fn names(&self, principal: &str, name: &str) -> bool {
        if &*self.principal != principal && &*self.principal != EVERYBODY {
            return false;
        }
        if self.prefixed {
            name.starts_with(&*self.name)
        } else {
            &*self.name == "*" || &*self.name == name
        }
    }
}
