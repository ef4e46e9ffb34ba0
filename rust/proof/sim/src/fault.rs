//! Faults of a world. Each world draws which of them exist, and how often they come.

/// Time at which a fault comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coming {
    /// A number of times in a thousand occasions: a message, a piece of work.
    ByChance,
    /// Times that the world draws, one fault at a time.
    AtTimes,
}

macro_rules! faults {
    ($($name:ident $word:literal $coming:ident $what:literal;)*) => {
        /// See the module.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $(#[doc = $what] $name,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name),*];

            /// Its name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Time at which it comes.
            #[must_use]
            pub const fn coming(self) -> Coming {
                match self { $(Self::$name => Coming::$coming,)* }
            }
        }
    };
}

faults! {
    Slow "slow" ByChance "A message takes long, and others overtake it.";
    Lost "lost" ByChance "A message is lost.";
    Doubled "doubled" ByChance "A message arrives twice.";
    Cut "cut" ByChance "A member's connection is cut while a request is on its way.";
    MemberCrash "member-crash" ByChance "A member crashes with records in its hands.";
    MemberClose "member-close" ByChance "A member leaves.";
    Stall "stall" ByChance "A member works for longer than its lock holds.";
    Twin "twin" ByChance "A new member has the id of one that is there.";
    Repeat "repeat" ByChance "A member acknowledges again what it has acknowledged before.";
    Stranger "stranger" ByChance "A member acknowledges what it does not hold.";
    Release "release" ByChance "A member gives a record back.";
    Reject "reject" ByChance "A member rejects a record.";
    Renew "renew" ByChance "A member renews a lock.";
    Takeover "takeover" AtTimes "The leader changes, and the old one knows.";
    BrokerCrash "broker-crash" AtTimes "The leader's process is killed.";
    Overlap "overlap" AtTimes "The leader changes, and the old one does not know.";
    StoreKill "store-kill" AtTimes "The coordinator's process is killed.";
    StoreClose "store-close" AtTimes "The coordinator is closed and opened again.";
    PowerLoss "power-loss" AtTimes "The coordinator's machine loses power.";
    DiskStops "disk-stops" AtTimes "The coordinator's process ends at an operation of its disk.";
    DiskFails "disk-fails" AtTimes "An operation of the coordinator's disk fails once.";
    BitFlip "bit-flip" AtTimes "A bit of a file flips while the coordinator is down.";
    Drift "drift" ByChance "The leaders' clocks run at another pace.";
    ClockStep "clock-step" AtTimes "A leader's clock, and the coordinator's, make a step.";
    LogStart "log-start" AtTimes "The log start moves.";
    Reset "reset" AtTimes "The group empties and its offsets are reset.";
    Hole "hole" ByChance "The log has offsets without a record.";
    Transaction "transaction" ByChance "A batch belongs to a transaction, which may be aborted.";
    DeadLetter "dead-letter" ByChance "Records that are given up go to a dead-letter queue.";
}

impl Fault {
    /// Number of the kinds of faults.
    pub const COUNT: usize = Self::ALL.len();

    /// Returns the fault of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }
}
