"""Share groups for tests, without a JVM: librdkafka's mock cluster keeps the records, a share gateway has the groups.

``share_cluster()`` is a context manager; ``share_state.testing.plugin`` has it as a pytest fixture. Needs confluent-kafka
(``pip install '.[kafka]'`` in the checkout).
"""

from share_state.testing.cluster import ProduceError, ShareCluster, share_cluster
from share_state.testing.mock_cluster import MockCluster, MockClusterError

__all__ = ["MockCluster", "MockClusterError", "ProduceError", "ShareCluster", "share_cluster"]
