"""An upstream in process that does what a test tells it to: everything that a cluster may do, and what none should.

* :mod:`log`: the records of one partition, which can be truncated, compacted and deleted from below.
* :mod:`cluster`: topics, leaders, epochs; moved, forgotten, made again by calls from the test's thread.
* :mod:`faults`: how answers are spoilt.
* :mod:`answering`: Metadata, Fetch with its sessions, ListOffsets, OffsetForLeaderEpoch, Produce out of that state.
* :mod:`upstream`: the brokers as servers on ports of their own.
"""

from tests.gateway.hostile.faults import Faults
from tests.gateway.hostile.upstream import HostileUpstream

__all__ = ["Faults", "HostileUpstream"]
