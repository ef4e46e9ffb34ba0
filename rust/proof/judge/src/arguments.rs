//! The command line.

/// Run that is asked for.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// Name of the profile: the class of Kafka's that is compared.
    pub profile: String,
    /// Seed, from which all choices follow.
    pub seed: u64,
    first: u64,
    count: u64,
    /// Operations of a sequence.
    pub length: usize,
    /// Number of unexplained differences that are made small.
    pub shrink: usize,
    /// True if one of each deliberate difference is made small too.
    pub examples: bool,
    /// The program, with its arguments, that is Kafka's side.
    pub command: Vec<String>,
}

impl Arguments {
    /// Reads `profile seed first count length shrink examples command…`.
    ///
    /// # Errors
    /// An argument is missing or no number.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut next = |name: &str| arguments.next().ok_or_else(|| format!("{name} is missing"));
        let number = |name: &str, text: String| {
            text.parse::<u64>()
                .map_err(|_| format!("{name} is {text}, no number"))
        };
        Ok(Self {
            profile: next("profile")?,
            seed: number("seed", next("seed")?)?,
            first: number("first", next("first")?)?,
            count: number("count", next("count")?)?,
            length: number("length", next("length")?)? as usize,
            shrink: number("shrink", next("shrink")?)? as usize,
            examples: number("examples", next("examples")?)? != 0,
            command: arguments.collect(),
        })
    }

    /// Numbers of the sequences.
    pub fn sequences(&self) -> std::ops::Range<u64> {
        self.first..self.first + self.count
    }
}
