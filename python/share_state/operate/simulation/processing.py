"""Time that members work on records."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, Protocol

from share_state.errors import ConfigError
from share_state.operate.simulation.settings import milliseconds

__all__ = ["FittedProcessing", "LogNormalProcessing", "Processing", "parse_processing_time"]

#: A standard normal variable is below it in 99 of 100 cases.
_P99: Final = NormalDist().inv_cdf(0.99)
#: Number of trials for each stall that was seen, to draw how many another log would have.
_TRIALS: Final = 10


class Processing(Protocol):
    """Time of a member from one fetch to the next."""

    def draw(self, records: int, chance: random.Random) -> float:
        """Return how long it takes for so many records, in ms."""

    def resampled(self, chance: random.Random) -> Processing:
        """Return what another log of the same length might have shown: rare events are known by few."""

    def describe(self) -> dict[str, float | int | str]:
        """Return what it is, for people and for JSON."""


@dataclass(frozen=True, slots=True)
class LogNormalProcessing:
    """Each record takes a time of its own, from a log-normal distribution.

    Attributes:
        median_ms: half of the records take less.
        spread: the standard deviation of the logarithm; 0 for one time for all.
    """

    median_ms: float
    spread: float = 0.0

    def draw(self, records: int, chance: random.Random) -> float:
        """Return how long it takes for so many records, in ms."""
        if self.spread == 0:
            return self.median_ms * records
        at = math.log(self.median_ms)
        return sum(chance.lognormvariate(at, self.spread) for _ in range(records))

    def resampled(self, chance: random.Random) -> LogNormalProcessing:  # noqa: ARG002  nothing was measured
        """Return the same: it was given."""
        return self

    def describe(self) -> dict[str, float | int | str]:
        """Return what it is."""
        return {
            "kind": "given",
            "record_p50_ms": round(self.median_ms, 3),
            "record_p99_ms": round(self.median_ms * math.exp(_P99 * self.spread), 3),
        }


@dataclass(frozen=True, slots=True)
class FittedProcessing:
    """Times like those that a log shows: usual ones, and stalls.

    A fetch costs a fixed time and a time for each record, both multiplied by a factor that is drawn from those seen. Each record
    brings a stall with a small chance; how long it lasts is drawn from those seen.

    Attributes:
        fetch_ms: what a fetch costs, however many records it brings.
        record_ms: what each record adds.
        factors: of the fetches seen, how much longer than that they took; sorted.
        factor_records: how many records those fetches had as a rule. A fetch of more is worked on as several of them.
        stall_chance: how many stalls a record brings on the average; more than 0 where stalls were seen.
        stalls_ms: how long the stalls seen lasted; sorted.
    """

    fetch_ms: float
    record_ms: float
    factors: Sequence[float]
    factor_records: int = 1
    stall_chance: float = 0.0
    stalls_ms: Sequence[float] = ()

    def usual(self, records: int) -> float:
        """Return how long a fetch of so many records usually takes, in ms."""
        return self.fetch_ms + self.record_ms * records

    def draw(self, records: int, chance: random.Random) -> float:
        """Return how long it takes for so many records, in ms."""
        parts = max(1, round(records / self.factor_records))
        time = self.usual(records) * sum(chance.choice(self.factors) for _ in range(parts)) / parts
        if self.stalls_ms:
            # So many records until the next one that brings a stall.
            at = chance.expovariate(self.stall_chance)
            while at < records:
                time += chance.choice(self.stalls_ms)
                at += chance.expovariate(self.stall_chance)
        return time

    def resampled(self, chance: random.Random) -> FittedProcessing:
        """Return as many stalls, and such, as another log might have shown."""
        seen = len(self.stalls_ms)
        # Bernoulli trials in a number that makes their sum all but Poisson.
        drawn = sum(chance.random() < 1 / _TRIALS for _ in range(seen * _TRIALS))
        if not drawn:
            return replace(self, stall_chance=0.0, stalls_ms=())
        return replace(self, stall_chance=self.stall_chance * drawn / seen, stalls_ms=chance.choices(self.stalls_ms, k=drawn))

    def describe(self) -> dict[str, float | int | str]:
        """Return what it is."""
        mean = sum(self.stalls_ms) / len(self.stalls_ms) if self.stalls_ms else 0.0
        return {
            "kind": "fitted",
            "fetch_ms": round(self.fetch_ms, 3),
            "record_ms": round(self.record_ms, 3),
            "fetches": len(self.factors),
            "stalls": len(self.stalls_ms),
            "stalls_per_1000_records": round(1000 * self.stall_chance, 3),
            "stall_mean_ms": round(mean, 3),
        }


def parse_processing_time(text: str) -> LogNormalProcessing:
    """Read the time that a record takes: `200ms`, or `p50=100ms,p99=2s`.

    Raises:
        ConfigError: it is neither; `field` and `value` name it.
    """
    field = "processing-time"
    if "=" not in text:
        return LogNormalProcessing(_positive(field, text))
    parts = dict(part.partition("=")[::2] for part in text.split(","))
    if parts.keys() != {"p50", "p99"} or text.count(",") != 1:
        raise ConfigError(f"{field} is {text}; expected 200ms, or p50=100ms,p99=2s", field=field, value=text)
    middle, high = _positive("p50", parts["p50"]), _positive("p99", parts["p99"])
    if high < middle:
        raise ConfigError(f"p99 is {parts['p99']}, which is less than p50", field="p99", value=parts["p99"])
    return LogNormalProcessing(middle, math.log(high / middle) / _P99)


def _positive(field: str, text: str) -> float:
    time = milliseconds(field, text)
    if time == 0:
        raise ConfigError(f"{field} is {text}; expected more than 0", field=field, value=text)
    return time
