"""The clock of the persister, in one place, so that a test can replace it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from share_state.errors import ConfigError

__all__ = ["Clock", "LoopClock", "RetryPolicy", "Timer", "sleep", "within"]

T = TypeVar("T")


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """Cancel it."""


class Clock(Protocol):
    """Schedules calls, and draws the jitter."""

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Call ``callback`` in ``delay`` seconds, on the running event loop."""

    def random(self) -> float:
        """Draw from [0, 1)."""


class LoopClock:
    """The clock of the running event loop."""

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        """See :meth:`Clock.call_later`."""
        return asyncio.get_running_loop().call_later(delay, callback)

    def random(self) -> float:
        """See :meth:`Clock.random`."""
        return random.random()  # noqa: S311  spreads retries, hides nothing


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The attempts of a call and their intervals; the defaults are Kafka's (``PersisterStateManager``).

    Attributes:
        attempts: the number of attempts.
        initial_seconds: wait after the first attempt; each further wait is twice as long.
        maximum_seconds: the longest wait.
        jitter: the fraction by which a wait is randomly shorter or longer.
    """

    attempts: int = 5
    initial_seconds: float = 1.0
    maximum_seconds: float = 30.0
    jitter: float = 0.2

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ConfigError(
                f"attempts is {self.attempts}; expected at least 1", field="attempts", value=self.attempts, minimum=1
            )
        for name in ("initial_seconds", "maximum_seconds", "jitter"):
            value = getattr(self, name)
            # Not below: so that NaN is refused too.
            if not value >= 0 or (name == "jitter" and value > 1):
                raise ConfigError(f"{name} is {value}", field=name, value=value, minimum=0)

    def wait_after(self, attempt: int, drawn: float) -> float:
        """Seconds to wait after the ``attempt``-th attempt; ``drawn`` is from [0, 1)."""
        # The exponent stops where any wait is at its maximum, so that no number of attempts overflows.
        grown = self.initial_seconds * 2.0 ** min(attempt - 1, 64)
        return float(min(grown * (1 + self.jitter * (2 * drawn - 1)), self.maximum_seconds))


async def sleep(clock: Clock, seconds: float) -> None:
    """Wait."""
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    timer = clock.call_later(seconds, lambda: None if over.done() else over.set_result(None))
    try:
        await over
    finally:
        timer.cancel()


async def within(clock: Clock, seconds: float, work: Awaitable[T]) -> T:
    """Wait for ``work``, and cancel it after ``seconds``.

    Raises:
        TimeoutError: ``work`` took longer.
    """
    task = asyncio.ensure_future(work)
    expired = False

    def expire() -> None:
        nonlocal expired
        expired = not task.done()
        task.cancel()

    timer = clock.call_later(seconds, expire)
    try:
        return await task
    except asyncio.CancelledError:
        if expired:
            raise TimeoutError from None
        task.cancel()
        raise
    finally:
        timer.cancel()
