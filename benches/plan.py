"""Plan of the measurements: workloads, sizes and engines, and the targets that the project holds itself to."""

from __future__ import annotations

from dataclasses import dataclass, field

from benches.programs import COLUMNAR, KAFKA, KIO, SCALAR, TREE, TWIN

OURS = (TREE, SCALAR, COLUMNAR)
ALL = (KAFKA, *OURS, TWIN)


@dataclass(frozen=True)
class Row:
    """Workload at one size."""

    workload: str
    size: int
    engines: tuple[str, ...] = ALL
    #: True if the times of single operations are kept as well.
    tails: bool = False
    #: True if the quick run measures it too.
    quick: bool = False
    #: Time at which writes reach a disk (`DURABILITIES`); empty with the persister that keeps nothing.
    durability: str = ""

    @property
    def writes(self) -> int:
        """Writes of a workload that can go to a disk: so many that to make a store is little beside them, but few syncs."""
        return 2_000 if self.durability == "always" else 20_000

    @property
    def name(self) -> str:
        return "-".join((self.workload, str(self.size), *([self.durability] if self.durability else [])))


@dataclass(frozen=True)
class Target:
    """Target of a row: a least ratio to `against` by face, or a greatest figure."""

    text: str
    row: str
    #: By engine: so many times faster than `against` at least.
    ratios: dict[str, float] = field(default_factory=dict)
    against: str = KAFKA
    #: By engine: at most so many times the time of an element in the row `base`.
    growth: dict[str, float] = field(default_factory=dict)
    base: str = ""
    #: A figure of the row, with the most or the least that it may be.
    figure: str = ""
    most: float | None = None
    least: float | None = None
    #: Obstacle to the target, shown where it is missed.
    limit: str = ""


def _sizes(workload: str, sizes: tuple[int, ...], quick: tuple[int, ...], tails: tuple[int, ...] = ()) -> list[Row]:
    return [Row(workload, size, quick=size in quick, tails=size in tails) for size in sizes]


#: Times at which writes reach a disk, and the names that the pages give them.
DURABILITIES = {
    "never": "inline, sync never",
    "interval": "inline, sync every second",
    "always": "inline, sync always",
    "polled": "polled, sync always",
}


def _durable(workload: str, size: int) -> list[Row]:
    """A workload without a disk and over a store in each way; the twin keeps nothing."""
    ways = ("", *DURABILITIES)
    return [Row(workload, size, (KAFKA, *OURS), quick=way in {"never", "always"}, durability=way) for way in ways]


_COORDINATOR = (KAFKA, TREE, SCALAR)
_MEMORY = (KAFKA, TREE, TWIN)

ROWS: list[Row] = [
    *_sizes("W1", (1, 10, 100, 500, 5_000), (1, 500), (1, 500)),
    *_durable("W1-durable", 500),
    *_sizes("W2", (500, 2_000), (500,), (500,)),
    *_sizes("W3", (10, 100, 1_000, 10_000, 100_000), (1_000, 10_000), (10_000,)),
    *_sizes("W4", (1_000, 10_000, 100_000, 1_000_000, 10_000_000), (1_000, 10_000), (10_000, 1_000_000)),
    *_durable("W4-durable", 10_000),
    *_sizes("W5", (1_000, 10_000, 100_000, 1_000_000, 10_000_000), (10_000,), (10_000, 1_000_000)),
    *_sizes("W6", (2_000, 10_000, 100_000, 1_000_000, 100_000_000), (10_000,), (1_000_000,)),
    *_sizes("W6-next", (1_000, 10_000, 100_000, 1_000_000), (10_000,), (1_000_000,)),
    *_sizes("W6-cycle", (1_000, 10_000, 100_000, 1_000_000), (10_000,), (1_000_000,)),
    *_sizes("W7", (1_000, 10_000, 100_000, 1_000_000), (10_000,), (1_000_000,)),
    *_sizes("W7-exploded", (10_000, 100_000), (10_000,)),
    *_sizes("W7-jittered", (10_000, 100_000, 1_000_000), (10_000,), (1_000_000,)),
    *_sizes("W8", (1_000, 10_000, 100_000, 1_000_000), (1_000,), (1_000_000,)),
    *_sizes("W9", (1_000, 10_000, 100_000, 1_000_000), (10_000,), (1_000_000,)),
    *_sizes("W10", (100_000,), (), (100_000,)),
    *[Row("W11", size, _COORDINATOR, quick=size == 1_000) for size in (100, 1_000, 10_000, 100_000)],
    Row("W12", 1_000_000, (KAFKA, TREE)),
    *_sizes("W13-uniform", (1_000, 10_000, 100_000), (1_000,), (100_000,)),
    *_sizes("W13-zipf", (100_000,), ()),
    *_durable("W13-durable", 1_000),
    *_sizes("W14", (5, 10), (5,)),
    *_sizes("W15-jump", (10_000, 1_000_000), ()),
    *_sizes("W15-gaps", (1_000_000,), ()),
    *_sizes("W16", (100_000,), ()),
    Row("encode", 10, (KAFKA, TREE, SCALAR, KIO)),
    Row("encode", 1_000, (KAFKA, TREE, SCALAR, KIO), quick=True),
    # The twin looks at every record or lock for each, and memory is told only at the end.
    Row("memory-shredded", 1_000_000, (KAFKA, TREE)),
    Row("memory-singly", 1_000_000, (KAFKA, TREE)),
    Row("memory-empty", 1_000, _MEMORY, quick=True),
    Row("memory-live", 1_000, _MEMORY),
    Row("replay", 1_000_000, (TREE,), quick=True),
    Row("replay", 10_000_000, (TREE,)),
    Row("durable", 64, (TREE,), quick=True),
]

#: The rows that are measured before all others.
FIRST = (
    "W1-500",
    *(row.name for row in ROWS if row.workload in ("W1-durable", "W13-durable")),
    "W3-10",
    "W4-10000",
    "W3-10000",
    *(row.name for row in ROWS if row.workload == "W4-durable"),
    *(row.name for row in ROWS if row.workload in ("W1", "W3", "W4", "W13-uniform") and row.size < 1_000_000),
)


def small(engine: str, *, stored: bool = False) -> list[Row]:
    """The rows that the smaller tools (criterion, pytest-benchmark, asv) replay on an engine: those of the quick run that have an
    operation log. `stored` adds those over a disk."""
    return [
        row
        for row in ROWS
        if row.quick
        and engine in row.engines
        and (stored or not row.durability)
        and row.workload not in ("replay", "durable")
        and not row.workload.startswith("memory")
    ]


def _faces(rust: float, scalar: float, columnar: float) -> dict[str, float]:
    return {TREE: rust, SCALAR: scalar, COLUMNAR: columnar}


_SCALAR = "From Python each call has its arguments to take apart, which costs more than what the engine does for it."
_CYCLE = (
    "A cycle is two requests that are checked, a lock made and ended, a write lent and confirmed: some 1,800 instructions, "
    f"the runner's reading of the two operations included (`make bench-guard`). {_SCALAR} A columnar call takes 20 batches here, "
    "as no more are in flight, and has its columns to look at and its answers to make into arrays."
)
_ACKNOWLEDGE = (
    "The request is checked, its leaf found, a code and four maps of classes changed, the lock's count taken down, the write "
    "made and confirmed: some 1,000 instructions, 660 where the records are taken in order and 750 where a request has 500 of "
    f"them. {_SCALAR}"
)
_LOCKS = (
    "Records acquired one by one have a lease of 40 bytes each; those of a million do not fit into a cache: a lock that runs out "
    "takes some 150 instructions, and of the nanoseconds in a window of a million about three are the system's, which takes back "
    "the 40 MB of the leases. Those of a member do not lie together, each on a page of its own: four cache lines for a lock that "
    "is released, of the lease, its neighbours and the record, and some 500 instructions."
)
_TYPES = "The engine needs half a nanosecond a record; the rest is the making of one request a call out of a column of types."
_FOLD = (
    "A fold finds the leaf of a run, puts another in its place and looks at both neighbours: some 700 instructions, and at "
    "100,000 runs memory that no near cache holds."
)
_RANDOM = (
    "Each acknowledgement meets a leaf, its group and a lease that no cache holds at this size, each on a page of its own: 1.0 "
    "to 1.2 µs in all runs, against 120 to 180 ns in the window of 10,000, which a near cache holds or does not."
)
_REPLAY = (
    "A record is walked over to check it and again to show it, decoded and folded, one after the other on one core: some 1,600 "
    "instructions, a third of them the fold."
)
_COLD = (
    "A share partition that rests lies in about nine cache lines on four levels of pointers, none of which is in a cache, and "
    "one load at random from 100 MB takes about 200 ns on this machine: with the 100 ns of work that W1 shows, two levels are "
    "more than a tenth of Kafka's time. A columnar call loads 16 share partitions at a time."
)
_LIVE = (
    "Counted is one acquisition that acknowledgements have torn into four runs: 120 bytes are the share partition itself, 80 its "
    "member, counters and writes, 120 its window with the lease, 64 the runs. The name of the group and its configuration are "
    "shared. From the second lease at a time on there is a list of them, 88 bytes and 40 a lease: four runs of four acquisitions "
    "would take 632."
)
_ENCODE = "20 KB are laid down in 1.3 µs, 15 GB a second; from Python they are copied once more, into an object of its own."
_COMMIT = (
    "A commit wakes the threads whose writes it holds, and on two processors that takes longer than the disk does; the bare loop "
    "wakes nobody."
)

_W4_W5 = "ours against ours, a record"
TARGETS: list[Target] = [
    Target("W1 acquire + full acknowledge, batches of 500", "W1-500", _faces(10, 3, 10), limit=_CYCLE),
    Target("W1 with batches of 1", "W1-1", _faces(20, 3, 20), limit=_CYCLE),
    Target("W2 a type per record, 500 a request", "W2-500", _faces(50, 50, 50), limit=_TYPES),
    Target("W3 in-order single acknowledgements, batch 10,000", "W3-10000", _faces(1_000, 150, 1_000), limit=_ACKNOWLEDGE),
    Target("W4 alternate single acknowledgements, window 10,000", "W4-10000", _faces(1_000, 150, 1_000), limit=_ACKNOWLEDGE),
    Target(
        f"W4 at 10^7 against 10^4 in flight ({_W4_W5})", "W4-10000000", growth=_faces(3, 3, 3), base="W4-10000", limit=_RANDOM
    ),
    Target(f"W5 at 10^6 against 10^4 ({_W4_W5})", "W5-1000000", growth=_faces(3, 3, 3), base="W5-10000", limit=_RANDOM),
    Target(f"W5 at 10^7 against 10^4 ({_W4_W5})", "W5-10000000", growth=_faces(8, 8, 8), base="W5-10000", limit=_RANDOM),
    Target("W6 next available after 10^6 acquired", "W6-next-1000000", _faces(10_000, 10_000, 10_000), limit=_SCALAR),
    Target("W7 10^6 separate locks run out", "W7-1000000", _faces(50, 50, 50), limit=_LOCKS),
    Target("W7 writes for it", "W7-1000000", figure="writes", most=1),
    Target("W9 release by one of 256 members, 10^6 locks", "W9-1000000", _faces(100, 100, 100), limit=_LOCKS),
    Target("W11 fold of a delta into 1,000 batches", "W11-1000", {TREE: 500}, limit=_FOLD),
    Target("W11 fold of a delta into 100,000 batches", "W11-100000", {TREE: 10_000}, limit=_FOLD),
    Target("W13 100,000 share partitions, random cycle", "W13-uniform-100000", _faces(10, 10, 10), limit=_COLD),
    Target("bytes a record, window shredded by acknowledgements", "memory-shredded-1000000", figure="bytes_each", most=8),
    Target("bytes a record, every record acquired by itself", "memory-singly-1000000", figure="bytes_each", most=64),
    Target("bytes of an empty share partition", "memory-empty-1000", figure="bytes_each", most=200),
    Target("bytes of a share partition with four live runs", "memory-live-1000", figure="bytes_each", most=400, limit=_LIVE),
    Target("encode WriteShareGroupState of 1,000 batches, against kio", "encode-1000", {TREE: 100, SCALAR: 100}, against=KIO),
    Target("the same, against Kafka's generated serializer", "encode-1000", {TREE: 3}, limit=_ENCODE),
    Target(
        "replay of 10^7 encoded updates, records a second", "replay-10000000", figure="records_a_second", least=5e6, limit=_REPLAY
    ),
    Target("durable writes against bare append + fsync", "durable-64", figure="share_of_bare", least=0.5, limit=_COMMIT),
]

_BESIDE = (
    "without a disk and over a store on one; Kafka's class has a persister that appends the bytes of the same commits and syncs "
    "as the store does; the columnar calls make fewer and larger writes"
)
#: Description of each workload: what it does, its size and its element.
ABOUT = {
    "W1": "whole batches acquired and acknowledged, 20 in flight; size: records a batch; an element is a cycle",
    "W1-durable": f"20,000 such cycles, or 2,000 where each is synced, {_BESIDE}",
    "W2": "one request with a type for each record, all accepts; size: records a request; an element is a record",
    "W3": "single accepts in the order of the offsets; size: records of the batch; an element is a record",
    "W4": "single accepts of every second record, then of the holes; size: records in flight",
    "W4-durable": f"single accepts of every second record in a window of size, at most 2,000 where each is synced, {_BESIDE}",
    "W5": "single acknowledgements without a pattern, 90% accept, 5% release, 4% reject, 1% renew, a fetch for each 100; "
    "32 members, acquisitions of 500; size: records in flight",
    "W6": "the record at the start offset stays out, the window grows to size after it; single accepts, from 10^7 on of 500",
    "W6-next": "where to fetch next, the only available record after so many acquired one by one; an element is a question",
    "W6-cycle": "the same with the release, its write and the acquisition around the question",
    "W7": "so many locks on a record each run out together; an element is a lock",
    "W7-exploded": "so many records in batches of 10,000 of which one record was accepted run out; an element is a record",
    "W7-jittered": "records acquired over 30 s, 90% accepted, the others run out, the time told every 100 ms; an element is a "
    "record that runs out",
    "W8": "so many locks renewed every 10 s of 30 s for a minute, 1% lapse; an element is a renewal",
    "W9": "256 members hold so many records in turn, eight leave; an element is a member that leaves",
    "W10": "single acknowledgements in a window of 2,000, another leader every 1,000 operations; an element is an operation",
    "W11": "deltas of one run folded into so many state batches; an element is a delta",
    "W12": "so many state batches encoded as a snapshot and decoded again; an element is a batch",
    "W13-uniform": "a batch acquired and accepted in one of so many share partitions; an element is such a cycle",
    "W13-zipf": "the same, share partitions taken in proportion to rank^-1.1",
    "W13-durable": f"20,000 cycles of ten records in one of so many share partitions, or 2,000 where each is synced, {_BESIDE}",
    "W14": "batches of 500 released whenever delivered, up to a delivery limit of size; an element is an operation",
    "W15-jump": "the log start jumps over so many records in flight, every second accepted; an element is a record",
    "W15-gaps": "half the offsets missing from the log; an element is an acknowledgement",
    "W16": "one hot share partition and 64 cold ones; an element is a cycle",
    "encode": "a WriteShareGroupState request of so many state batches; an element is a request",
}

#: Rows of the front page by name, and their text there.
HEADLINES = {
    "W1-500": "acquire and acknowledge, batches of 500",
    "W3-10000": "in-order single acknowledgements, batch of 10,000",
    "W9-1000000": "release by one of 256 members, 10^6 locks",
    "W13-uniform-100000": "a batch in one of 100,000 share partitions",
    "W1-durable-500-never": "acquire and acknowledge, batches of 500, into a store that does not sync",
    "W13-durable-1000-never": "a batch in one of 1,000 share partitions, into a store that does not sync",
    "W1-durable-500-always": "acquire and acknowledge, batches of 500, each write synced",
    "W4-durable-10000-interval": "alternate single acknowledgements, a sync every second",
}

#: p99.99 of every operation of these, nanoseconds.
TAIL_TARGET_NS = 100_000
TAIL_ROWS = [
    row.name for row in ROWS if row.tails and row.size == 1_000_000 and row.workload[:2] in {"W4", "W5", "W6", "W7", "W8", "W9"}
]
#: The operation that ends 10^6 locks is shown and not held to it.
TAIL_ASIDE = {("W7-1000000", "tick")}
#: Reason that is given where a tail is missed.
TAIL_LIMIT = (
    "A tick of W8 and a release of W9 end thousands of locks in one call, and take as long as these take: each is a lease and a "
    "record that lie apart from the others in memory, and no cache holds them."
)
