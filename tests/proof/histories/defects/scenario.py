"""A scenario, and what it comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from share_state.operate.histories import check_history
from tests.proof.histories.defects.stage import Stage, Topic
from tests.proof.histories.recorded import encoded

SEEN, NOT_SEEN = "seen", "not seen"
#: UNKNOWN_SERVER_ERROR: what a broker answers where its own code has failed.
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Found:
    """Observations of a client."""

    topic: Topic
    #: The symptom showed.
    seen: bool
    #: The answers that decide, in words.
    told: str

    @property
    def found(self) -> dict[str, int]:
        """Findings of the checker of histories about it: violations by check."""
        report = check_history(encoded(self.topic.lines))
        return dict(Counter(violation.check for violation in report.violations))


#: A script yields where the server is to be killed and started again.
Script = Generator[None, None, Found]


def at_once(play: Callable[[Stage], Found]) -> Callable[[Stage], Script]:
    """The script of what needs no crash."""

    def script(stage: Stage) -> Script:
        yield from ()
        return play(stage)

    return script


class Scenario(NamedTuple):
    """An apparent defect, and how to ask for it."""

    #: Its id in docs/deliberate-differences.md.
    defect: str
    #: Symptom that a client would see.
    symptom: str
    script: Callable[[Stage], Script]
    #: Why it cannot be provoked from outside, as far as is known; the scenario tries all the same.
    because: str = ""

    def verdict(self, found: Found, *, of_kafka: bool) -> str:
        """In the words of docs/verdicts.md."""
        if found.seen:
            return SEEN
        return f"cannot be provoked from outside, because {self.because}" if self.because and of_kafka else NOT_SEEN

    def row(self, found: Found, system: str, history: Path, *, of_kafka: bool) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "system": system,
            "defect": self.defect,
            "verdict": self.verdict(found, of_kafka=of_kafka),
            "symptom": self.symptom,
            "told": found.told,
            "found": found.found,
            "history": str(history),
        }


def text(row: dict[str, Any]) -> str:
    """A row for reading."""
    checks = " ".join(f"{check}:{count}" for check, count in sorted(row["found"].items())) or "nothing"
    head = f"{row['system']:8} {row['defect']}  {row['verdict']}"
    return f"{head}\n    {row['symptom']}: {row['told']}\n    the checker finds {checks}; {row['history']}"
