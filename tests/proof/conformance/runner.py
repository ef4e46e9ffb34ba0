"""Choosing the suite of each file and running its scenarios in the ways asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from share_state.arguments import InFlightStore
from share_state.errors import ShareStateError

from . import (
    combiner,
    judged,
    misc_facts,
    offsets_manager,
    probes,
    record_serde,
    share_partition,
    simple_assignor,
)
from .recordings import FormatError, NotDrivable, Recording, Scenario, find, load
from .report import Difference, FileReport, Outcome, Skip
from .skips import MAX_SKIPPED_PERCENT, too_many
from .ways import FORMS, Way, ways

#: Suite that is played on a cluster.
CLUSTER_SUITE = "share_consumer_e2e"

#: Suites that need more than a run has; such a file does not fail a run.
DEFERRED = {
    CLUSTER_SUITE: "needs a cluster with share groups: --bootstrap HOST:PORT",
}

Runner = Callable[[Recording, Scenario, Sequence[Way]], list[Outcome | Skip]]


@dataclass(slots=True)
class RunResult:
    """All files of a run."""

    files: list[FileReport] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True if every file passed, something was found, and not too much was skipped."""
        return not self.complaints()

    def skipped(self) -> tuple[int, int]:
        """Number of scenarios skipped, the announced ``pre-4.4 rule`` aside, and of all.

        A scenario counts once here, in however many ways it was run.
        """
        skipped = sum(not skip.pre_44 for report in self.files for skip in report.skips)
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


def run_paths(
    paths: Sequence[Path], stores: Sequence[InFlightStore], cluster: Sequence[str] = (), forms: Sequence[str] = FORMS
) -> RunResult:
    """Run every recording below ``paths``; ``cluster`` is where share groups are, and where the data is if that is elsewhere."""
    return RunResult([run_file(path, stores, cluster, forms) for path in find(paths)])


def run_file(
    path: Path, stores: Sequence[InFlightStore], cluster: Sequence[str] = (), forms: Sequence[str] = FORMS
) -> FileReport:
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
        return report
    if runner is None:
        report.failure = "unknown prefix"
        return report
    try:
        _play(runner, recording, ways(stores, forms), report)
    except judged.JudgeFailedError as error:
        report.failure = str(error)
    return report


def _play(runner: Runner, recording: Recording, in_ways: Sequence[Way], report: FileReport) -> None:
    """Every scenario of a file."""
    for scenario in recording.scenarios:
        for result in _run_scenario(runner, recording, scenario, in_ways):
            if isinstance(result, Skip):
                report.skips.append(result)
            else:
                result.index = scenario.index
                report.outcomes.append(result)


def _judged(path: Path, report: FileReport) -> None:
    """Adds the judge's verdict on a file to ``report``."""
    try:
        results = judged.play(path)
    except judged.JudgeFailedError as error:
        report.failure = str(error)
        return
    report.skips += [result for result in results if isinstance(result, Skip)]
    report.outcomes += [result for result in results if isinstance(result, Outcome)]


def _run_scenario(suite: Runner, recording: Recording, scenario: Scenario, ways: Sequence[Way]) -> list[Outcome | Skip]:
    """Runs a scenario; one that is not of the format is a difference like any other and does not end the run."""
    try:
        return suite(recording, scenario, ways)
    except NotDrivable as error:
        return [Skip(scenario.name, str(error))]
    except (FormatError, ShareStateError, AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        shown = f"{type(error).__name__}: {error}"
        return [Outcome(scenario.name, differences=[Difference(scenario.name, -1, "format", "known", shown)])]


def _each_way(
    run: Callable[[Recording, Scenario, Way], Outcome | Skip],
) -> Runner:
    def run_all(recording: Recording, scenario: Scenario, ways: Sequence[Way]) -> list[Outcome | Skip]:
        results = [run(recording, scenario, way) for way in ways]
        skips = [result for result in results if isinstance(result, Skip)]
        # A skip is a matter of the recording, so it counts once and not once a way.
        return [*skips[:1], *(result for result in results if isinstance(result, Outcome))]

    return run_all


def _on_cluster(cluster: Sequence[str]) -> Runner:
    # Only now: it needs packages that are for tests with clusters alone.
    from . import share_consumer  # noqa: PLC0415

    return lambda _, scenario, __: [share_consumer.play(scenario, *cluster)]


def _facts(_: Recording, scenario: Scenario, ways: Sequence[Way]) -> list[Outcome | Skip]:
    stores = list(dict.fromkeys(way.store for way in ways))
    used = stores if misc_facts.uses_store(scenario) else stores[:1]
    return [misc_facts.run(scenario, store) for store in used]


_SUITES: dict[str, Runner] = {
    "share_partition": _each_way(share_partition.run),
    "probes_reference_quirks": _each_way(lambda _, scenario, way: probes.run(scenario, way)),
    "misc_facts": _facts,
    "combiner": lambda recording, scenario, _: [combiner.run(recording, scenario)],
    "offsets_manager": lambda _, scenario, __: [offsets_manager.run(scenario)],
    "record_serde": lambda _, scenario, __: [record_serde.run(scenario)],
    "simple_assignor": lambda _, scenario, __: [simple_assignor.run(scenario)],
}
