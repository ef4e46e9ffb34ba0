"""Findings of a run: differences, skips and the summary line of each file."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Difference:
    """Point in which share_state and the recording do not agree."""

    scenario: str
    op_index: int
    what: str
    expected: object
    actual: object

    def __str__(self) -> str:
        return f"{self.scenario} op {self.op_index}: {self.what}\n      expected {self.expected}\n      we have  {self.actual}"


@dataclass(frozen=True, slots=True)
class Deliberate:
    """A deliberate difference of a recording: where it is, its id in ``docs/deliberate-differences.md`` and what happens."""

    op_index: int
    rule: str
    what: str


@dataclass(slots=True)
class Outcome:
    """Result of a scenario that was run."""

    scenario: str
    #: On which store; empty where none is asked for.
    store: str = ""
    #: Place of the scenario in its file; several may share a name.
    index: int = 0
    differences: list[Difference] = field(default_factory=list)
    #: Deliberate differences met on the way.
    deliberate: list[Deliberate] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return not self.differences


@dataclass(frozen=True, slots=True)
class Skip:
    """A scenario that was not run, and why."""

    scenario: str
    reason: str
    #: Announced by the format itself: it does not count against the cap.
    announced: bool = False


@dataclass(slots=True)
class FileReport:
    """Everything one file yielded."""

    file: str
    outcomes: list[Outcome] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    #: Why the file is not run at all (a part of share_state that is not built yet).
    deferred: str | None = None
    #: Why the file could not be run (unknown prefix, unreadable).
    failure: str | None = None

    @property
    def run(self) -> int:
        """Scenarios run, counted once a store."""
        return len(self.outcomes)

    @property
    def differ(self) -> int:
        """Scenarios that differed, counted once a store."""
        return sum(not outcome.agrees for outcome in self.outcomes)

    @property
    def passed(self) -> bool:
        """A file passes when it ran something and nothing differed, or when it is deferred."""
        if self.failure is not None:
            return False
        return self.deferred is not None or (self.run > 0 and self.differ == 0)

    def summary(self) -> str:
        """The one line of the file."""
        agree = self.run - self.differ
        line = f"{self.file} run={self.run} agree={agree} differ={self.differ} skipped={len(self.skips)}"
        if self.deferred is not None:
            line += f" deferred: {self.deferred}"
        if self.failure is not None:
            line += f" FAILED: {self.failure}"
        return line

    def _deliberate(self) -> list[str]:
        return [
            f"  deliberate {each.rule} {outcome.scenario} op {each.op_index}: {each.what}"
            for outcome in self.outcomes
            for each in outcome.deliberate
        ]

    def lines(self, max_differences: int) -> list[str]:
        """The summary, each skip with its reason, each deliberate difference and each other one."""
        lines = [self.summary()]
        lines += [f"  skipped {skip.scenario}: {skip.reason}" for skip in self.skips]
        lines += self._deliberate()
        for outcome in self.outcomes:
            store = f" [{outcome.store}]" if outcome.store else ""
            shown = outcome.differences[:max_differences]
            lines += [f"  differs{store} {difference}" for difference in shown]
            hidden = len(outcome.differences) - len(shown)
            if hidden:
                lines.append(f"  … and {hidden} more in {outcome.scenario}{store}")
        return lines
