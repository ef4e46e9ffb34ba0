"""Seeds of tests: fixed, so that a change is judged by what it changes; ``make campaign`` draws fresh ones."""

from __future__ import annotations

import os
import random

FRESH = bool(os.environ.get("SHARE_STATE_FRESH"))


def seed(fixed: int) -> int:
    """The seed of a test, or a fresh one in a campaign; the test tells it."""
    return random.SystemRandom().randrange(1000, 2**31) if FRESH else fixed
