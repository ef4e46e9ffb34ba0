"""Every verb of the tools on a broker and on a gateway, and what differs.

python -m tests.gateway.tools --real HOST:PORT --gateway HOST:PORT [--upstream HOST:PORT]
"""

from __future__ import annotations

import argparse
import sys

from tests.gateway.tools.compare import Side, compare
from tests.gateway.tools.known import KNOWN
from tests.gateway.tools.script import every_verb


def main() -> int:
    """Print each difference; 1 when there is one that is not known."""
    parser = argparse.ArgumentParser(prog="python -m tests.gateway.tools")
    parser.add_argument("--real", required=True, help="HOST:PORT of a broker with share groups")
    parser.add_argument("--gateway", required=True, help="HOST:PORT of the gateway")
    parser.add_argument("--upstream", help="HOST:PORT of the gateway's upstream; left out if the gateway relays")
    given = parser.parse_args()
    found = compare(every_verb, Side.broker(given.real), Side(given.gateway, given.upstream or given.gateway), KNOWN)
    for difference in found:
        print(difference)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
