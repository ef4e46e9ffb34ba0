"""Benchmarks that asv runs on every commit of the history, so they use nothing newer than a commit."""

import sys
from pathlib import Path

# asv starts its processes elsewhere.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
