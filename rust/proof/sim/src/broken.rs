//! Rules that are broken on purpose, to show that a run finds it. The parts themselves are whole: what is broken is what the world
//! does between them.

macro_rules! broken {
    ($($name:ident $word:literal $what:literal;)*) => {
        /// See the module.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Broken {
            $(#[doc = $what] $name,)*
        }

        impl Broken {
            /// All of them.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name),*];

            /// Its name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

broken! {
    AnswersEarly "answers-early" "An acknowledgement is confirmed before its write is durable.";
    HidesRefusal "hides-refusal" "A member is told that its acknowledgement succeeded, and it was refused.";
    TakesStaleLeader "takes-stale-leader" "The store is told that every write comes from the newest leader.";
    CountsNot "counts-not" "A second delivery has the count of the first.";
    EndsLocksEarly "ends-locks-early" "The leader's clock is far ahead when it looks for locks that have run out.";
    PassesOutstanding "passes-outstanding" "A write moves the start offset one further than the share partition said.";
    ForgetsLastBatch "forgets-last-batch" "The store is opened without the last batch of its log.";
    SyncsNever "syncs-never" "The store does not sync, and the power may be lost.";
    GivesTwice "gives-twice" "Records are given to a second member that waits.";
    RenewsNot "renews-not" "A renewal is confirmed and not done.";
    ReadsOn "reads-on" "The log is read after the window, whatever was given back in it.";
    KeepsFailed "keeps-failed" "The change of a write that failed is not rolled back.";
    HidesFailure "hides-failure" "A write inside a call fails, and the share partition is told that it succeeded.";
    LeavesOut "leaves-out" "The gateway's cache is given a read of the log without its first batch.";
    FencesNot "fences-not" "A member that the group coordinator does not know is told to go on.";
    DropsBatch "drops-batch" "The persister loses the last state batch of a write that has several.";
}

impl Broken {
    /// Returns the rule of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|broken| broken.name() == name)
    }
}
