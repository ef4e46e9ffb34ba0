//! Groups, topics and members by number: a history names each of them very often.

use std::collections::HashMap;

use crate::event::Name;

/// The table of names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    numbers: HashMap<Box<str>, Name>,
    texts: Vec<Box<str>>,
}

impl Names {
    /// The number of a name; a new one if it is not in the table.
    pub fn number(&mut self, text: &str) -> Name {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        // More names than numbers do not fit into memory.
        let number = Name::try_from(self.texts.len()).unwrap_or(Name::MAX);
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        number
    }

    /// The name with a number.
    #[must_use]
    pub fn text(&self, number: Name) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }
}
