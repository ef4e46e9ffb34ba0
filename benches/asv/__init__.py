"""What asv follows over the history. It runs what stands here on every commit, so nothing newer than a commit may be used."""

import sys
from pathlib import Path

# asv starts its processes elsewhere.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
