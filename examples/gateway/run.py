"""Runs the demo: `make demo-gateway`, or `.venv/bin/python examples/gateway/run.py` from anywhere. The story is in `main.py`."""

import sys
from pathlib import Path

# Python looks for modules beside a script; ours are found from the root of the repository.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.gateway.main import main

if __name__ == "__main__":
    sys.exit(main())
