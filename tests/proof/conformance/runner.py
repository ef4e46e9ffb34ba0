"""Choosing the suite of each file and running its scenarios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from share_state.errors import ShareStateError

from . import combiner, judged, misc_facts
from .recordings import FormatError, NotDrivable, Recording, Scenario, find, load
from .report import Difference, FileReport, Outcome, Skip
from .skips import MAX_SKIPPED_PERCENT, too_many

#: Suite that is played on a cluster.
CLUSTER_SUITE = "share_consumer_e2e"

#: Suites that need more than a run has; such a file does not fail a run.
DEFERRED = {
    CLUSTER_SUITE: "needs a cluster with share groups: --bootstrap HOST:PORT",
}

Runner = Callable[[Scenario], list[Outcome]]


@dataclass(slots=True)
class RunResult:
    """All files of a run."""

    files: list[FileReport] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True if every file passed, something was found, and not too much was skipped."""
        return not self.complaints()

    def skipped(self) -> tuple[int, int]:
        """Number of scenarios skipped, without those that the format announces, and of all; each once, on however many stores."""
        skipped = sum(not skip.announced for report in self.files for skip in report.skips)
        ran = sum(len({outcome.index for outcome in report.outcomes}) for report in self.files)
        return skipped, skipped + ran

    def complaints(self) -> list[str]:
        """Why the run does not pass; empty when it does."""
        if not self.files:
            return ["no recording found"]
        complaints = []
        for report in self.files:
            if report.failure is not None:
                complaints.append(f"{report.file}: {report.failure}")
            elif report.differ:
                complaints.append(f"{report.file}: {report.differ} of {report.run} differ")
            elif not report.passed:
                complaints.append(f"{report.file}: ran nothing")
        skipped, scenarios = self.skipped()
        if too_many(skipped, scenarios):
            complaints.append(f"{skipped} of {scenarios} skipped, fewer than {MAX_SKIPPED_PERCENT} in 100 are allowed")
        return complaints


def run_paths(paths: Sequence[Path], cluster: Sequence[str] = ()) -> RunResult:
    """Run every recording below ``paths``; ``cluster`` is where share groups are, and where the data is if that is elsewhere."""
    return RunResult([run_file(path, cluster) for path in find(paths)])


def run_file(path: Path, cluster: Sequence[str] = ()) -> FileReport:
    """Run one file; a file that cannot be read or is of no known suite is a failure, not a silence."""
    report = FileReport(path.name)
    try:
        recording = load(path)
    except FormatError as error:
        report.failure = str(error)
        return report
    suite = recording.suite
    if suite in judged.SUITES:
        _judged(path, report)
        return report
    runner = _on_cluster(cluster) if suite == CLUSTER_SUITE and cluster else _SUITES.get(suite or "")
    if runner is None and suite in DEFERRED:
        report.deferred = DEFERRED[suite]
    elif runner is None:
        report.failure = "unknown prefix"
    else:
        _play(runner, recording, report)
    return report


def _play(runner: Runner, recording: Recording, report: FileReport) -> None:
    """Every scenario of a file; one that is not of the format is a difference like any other and does not end the run."""
    for scenario in recording.scenarios:
        try:
            outcomes = runner(scenario)
        except NotDrivable as error:
            report.skips.append(Skip(scenario.name, str(error)))
            continue
        except (FormatError, ShareStateError, AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
            shown = f"{type(error).__name__}: {error}"
            outcomes = [Outcome(scenario.name, differences=[Difference(scenario.name, -1, "format", "known", shown)])]
        for outcome in outcomes:
            outcome.index = scenario.index
        report.outcomes += outcomes


def _judged(path: Path, report: FileReport) -> None:
    """Adds the judge's verdict on a file to ``report``."""
    try:
        results = judged.play(path)
    except judged.JudgeFailedError as error:
        report.failure = str(error)
        return
    report.skips += [result for result in results if isinstance(result, Skip)]
    report.outcomes += [result for result in results if isinstance(result, Outcome)]


def _on_cluster(cluster: Sequence[str]) -> Runner:
    # Only now: it needs packages that are for tests with clusters alone.
    from . import share_consumer  # noqa: PLC0415

    return lambda scenario: [share_consumer.play(scenario, *cluster)]


_SUITES: dict[str, Runner] = {
    "misc_facts": misc_facts.run_on_both_stores,
    "combiner": lambda scenario: [combiner.run(scenario)],
}
