//! Arguments of the programs: `--name value` after the words.

/// Words and options of a command line.
#[derive(Debug, Default)]
pub struct Arguments {
    words: Vec<String>,
    options: Vec<(String, String)>,
}

impl Arguments {
    /// Arguments of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self::parse(std::env::args().skip(1))
    }

    fn parse(arguments: impl Iterator<Item = String>) -> Self {
        let mut parsed = Self::default();
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                Some(name) => parsed
                    .options
                    .push((name.to_owned(), arguments.next().unwrap_or_default())),
                None => parsed.words.push(argument),
            }
        }
        parsed
    }

    /// A word by its place.
    #[must_use]
    pub fn word(&self, index: usize) -> Option<&str> {
        self.words.get(index).map(String::as_str)
    }

    /// An option, or what stands for it.
    ///
    /// # Errors
    /// The value does not read as what is wanted.
    pub fn option<T: std::str::FromStr>(&self, name: &str, otherwise: T) -> Result<T, String> {
        match self.options.iter().rev().find(|(given, _)| given == name) {
            None => Ok(otherwise),
            Some((_, value)) => value
                .parse()
                .map_err(|_| format!("--{name} {value}: not understood")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_anywhere_and_the_last_counts() {
        let given = ["run", "--rounds", "3", "file", "--rounds", "4", "--x", "y"];
        let arguments = Arguments::parse(given.into_iter().map(str::to_owned));
        assert_eq!(arguments.word(1), Some("file"));
        assert_eq!(arguments.option("rounds", 5), Ok(4));
        assert_eq!(arguments.option("other", 5), Ok(5));
        assert!(arguments.option("x", 5).is_err());
    }
}
