//! Kinds of anomalies, and their severities.

/// Severity: the haste with which somebody should look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Normal in some groups; know it.
    Info,
    /// Members suffer, or did.
    Warning,
    /// The share partition stands still, or the state tells what cannot be.
    Critical,
}

impl Severity {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Critical];

    /// The name that tables and files show.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// Kind of an anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnomalyKind {
    /// The start offset has not moved while deliveries continued after it.
    StartOffsetStuck,
    /// A record was delivered as often as the limit allows, and each time a member gave it back or rejected it.
    PoisonRecord,
    /// A record was delivered as often as the limit allows, and a lock may have run out on it: whether a member accepted it too
    /// late or nobody did, the log cannot tell.
    LateOrPoison,
    /// Many such records in a short time: not one bad record, but something behind the members.
    ArchiveBurst,
    /// Delivery after delivery of a record ends about a lock duration after the one before.
    LockExpiryLoop,
    /// As many offsets are in flight as the limit allows: nothing after them is delivered until the start offset moves.
    WindowFull,
    /// The start offset went back without a new state epoch.
    StartOffsetWentBack,
    /// A leader epoch, state epoch or snapshot epoch went back, or an update names another snapshot than the last.
    EpochWentBack,
    /// A snapshot takes back what was written of records, or no longer tells of them.
    StateWentBack,
    /// The delivery complete count is less than the records that are terminal.
    CountDisagrees,
    /// Offsets of which nothing was ever written, though later ones are long known.
    Gap,
    /// Updates without the snapshot below them.
    MissingSnapshot,
    /// A share partition whose last snapshot keeps the state topic from being pruned.
    ColdKey,
    /// The lag grows from measurement to measurement.
    GrowingLag,
    /// The state of a topic that is no more.
    DeletedTopic,
}

impl AnomalyKind {
    /// All of them, in order.
    pub const ALL: [Self; 15] = [
        Self::StartOffsetStuck,
        Self::PoisonRecord,
        Self::LateOrPoison,
        Self::ArchiveBurst,
        Self::LockExpiryLoop,
        Self::WindowFull,
        Self::StartOffsetWentBack,
        Self::EpochWentBack,
        Self::StateWentBack,
        Self::CountDisagrees,
        Self::Gap,
        Self::MissingSnapshot,
        Self::ColdKey,
        Self::GrowingLag,
        Self::DeletedTopic,
    ];

    /// The name that tables and files show.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StartOffsetStuck => "start_offset_stuck",
            Self::PoisonRecord => "poison_record",
            Self::LateOrPoison => "late_or_poison",
            Self::ArchiveBurst => "archive_burst",
            Self::LockExpiryLoop => "lock_expiry_loop",
            Self::WindowFull => "window_full",
            Self::StartOffsetWentBack => "start_offset_went_back",
            Self::EpochWentBack => "epoch_went_back",
            Self::StateWentBack => "state_went_back",
            Self::CountDisagrees => "count_disagrees",
            Self::Gap => "gap",
            Self::MissingSnapshot => "missing_snapshot",
            Self::ColdKey => "cold_key",
            Self::GrowingLag => "growing_lag",
            Self::DeletedTopic => "deleted_topic",
        }
    }
}
