//! Meetings of two rare things. A meeting that never happens in a long run is a failure of the simulator: what it would show is not
//! looked at.

macro_rules! meetings {
    ($($name:ident $text:literal;)*) => {
        /// See the module.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Meeting {
            $(#[doc = $text] $name,)*
        }

        impl Meeting {
            /// All of them.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$name),*];

            /// Returns it in words.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

meetings! {
    LockEndsInWrite "a lock ends while a write is under way";
    AnswerToTheGone "the store answers a leader that is gone";
    RepeatAfterRestart "a write is repeated after the store was started again";
    OvertakenIsFenced "a write of an overtaken leader is fenced";
    TwoLeadersGive "an overtaken leader gives records";
    OvertakenTakes "an overtaken leader is sent an acknowledgement";
    PowerLostInGroup "power is lost while writes wait for their sync";
    EndsAtDisk "the store ends at an operation of its disk";
    EndsInRecovery "the store ends while it is opened";
    FailsInWrite "an operation of the disk fails while writes wait";
    TornTail "a torn tail is cut";
    ReadInGroup "a new leader reads while writes wait for their sync";
    LogStartInWrite "the log start passes records while a write is under way";
    LogStartPassesHeld "the log start passes records that a member holds";
    LateAcknowledgement "an acknowledgement comes after its lock has ended";
    LateRenewal "a renewal comes after its lock has ended";
    RepeatRefused "a repeated acknowledgement is refused";
    RepeatWhileHeld "a repeated acknowledgement meets a second delivery to its member";
    TwinTakesSession "a member takes over the session of one with its id";
    ReleaseInWrite "a member's connection ends while a write is under way";
    ResetWithWrite "offsets are reset while a write of the old state is on its way";
    OldStateFenced "a write of an old state is fenced";
    StepOverLocks "a leader's clock steps over deadlines";
    AbortedInGap "a new leader finds aborted records in a gap";
    LimitAfterTakeover "a record reaches the delivery limit under a new leader";
    LetterToTheGone "the dead-letter queue answers a leader that is gone";
    LetterAgain "a new leader gives records to the dead-letter queue again";
    GiveUpThenLate "a write that was given up arrives after all";
    FailsInline "a write inside a call fails";
    FencedInline "a write inside a call is fenced";
    InlineThenLost "a write inside a call is made, and its answer is lost";
    ReadBack "a share partition wants what the gateway's cache has let go of";
    AbortedInCache "the gateway's cache gives aborted records";
    MemberExpires "a member's session with the group coordinator ends";
    MemberFenced "a member is fenced by the group coordinator";
    LateBeat "a heartbeat comes after a newer one of its member";
    LateBeatMoves "a late heartbeat is answered with a new epoch, which nobody hears of";
    BeatThenLost "the group coordinator ends after it has written, and before it answers";
    CrashInInitialize "a leader crashes while it reads the state";
    FlipRefused "a flipped bit is found when the store is opened";
    FlipHarmless "a flipped bit changes nothing";
    LostGrant "records are given to a member that never hears of it";
    PruneThenPower "power is lost after segments were pruned";
}

/// Number of times that each meeting has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meetings([u64; Meeting::ALL.len()]);

impl Default for Meetings {
    fn default() -> Self {
        Self([0; Meeting::ALL.len()])
    }
}

impl Meetings {
    /// Counts one more.
    pub fn note(&mut self, meeting: Meeting) {
        if let Some(count) = self.0.get_mut(meeting as usize) {
            *count += 1;
        }
    }

    /// Adds those of another world.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }

    /// Number of times that the meeting has happened.
    #[must_use]
    pub fn count(&self, meeting: Meeting) -> u64 {
        self.0.get(meeting as usize).copied().unwrap_or(0)
    }
}
