"""Mutated input of the extension: only errors that it documents come out, in bounded room, and it comes back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.proof.mutations.cases import CASES

REPOSITORY = Path(__file__).resolve().parents[3]
#: Inputs a case, of one seed.
COUNT = 400


def test_mutated_input_is_taken_or_refused_as_documented() -> None:
    # In a process of its own: a hang ends with the time, and what takes too much memory fails there.
    command = [sys.executable, "-m", "tests.proof.mutations", "18", str(COUNT)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY, timeout=300)
    assert (ran.returncode, ran.stderr) == (0, "")
    outcomes = json.loads(ran.stdout)
    assert outcomes.keys() == CASES.keys()
    for name, (taken, refused) in outcomes.items():
        assert taken + refused == COUNT
        assert taken > COUNT // 50, name
        assert refused > COUNT // 50, name
