"""librdkafka's mock cluster: brokers inside this process, without a disk and without a JVM, which know no share groups.

Its C interface (``rdkafka_mock.h``) is called directly: confluent-kafka starts such a cluster too, but gives no way to create a
topic with as many partitions as a test needs.
"""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import Any, Final, Self

from share_state.errors import ConfigError, ShareStateError
from share_state.util.extras import require

__all__ = ["MockCluster", "MockClusterError"]

_PRODUCER: Final = 0
_TEXT_BYTES: Final = 512
#: Signatures of the functions (``rdkafka.h``, ``rdkafka_mock.h``).
_SIGNATURES: Final[dict[str, tuple[Any, list[Any]]]] = {
    "rd_kafka_conf_new": (ctypes.c_void_p, []),
    "rd_kafka_conf_set": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t],
    ),
    "rd_kafka_new": (ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
    "rd_kafka_destroy": (None, [ctypes.c_void_p]),
    "rd_kafka_err2str": (ctypes.c_char_p, [ctypes.c_int]),
    "rd_kafka_mock_cluster_new": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]),
    "rd_kafka_mock_cluster_destroy": (None, [ctypes.c_void_p]),
    "rd_kafka_mock_cluster_bootstraps": (ctypes.c_char_p, [ctypes.c_void_p]),
    "rd_kafka_mock_topic_create": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]),
}


class MockClusterError(ShareStateError):
    """The mock cluster cannot be started, or has refused a call."""


class MockCluster:
    """A cluster that lives as long as this object; a context manager.

    A partition keeps its newest 100,000 records or 5 MiB, whichever is less. A topic that was not created is made with four
    partitions when somebody asks for it.

    Args:
        brokers: how many; 1 to 100.

    Raises:
        MissingPackageError: confluent-kafka is not installed.
        MockClusterError: librdkafka cannot start it.
    """

    def __init__(self, brokers: int = 1) -> None:
        if not 1 <= brokers <= 100:  # noqa: PLR2004
            raise ConfigError(f"brokers is {brokers}; expected 1 to 100", field="brokers", value=brokers, minimum=1, maximum=100)
        self._library = _librdkafka()
        text = ctypes.create_string_buffer(_TEXT_BYTES)
        conf = self._library.rd_kafka_conf_new()
        # The client around the cluster connects nowhere; that it has no servers is not worth a line on stderr.
        self._library.rd_kafka_conf_set(conf, b"log_level", b"0", text, _TEXT_BYTES)
        self._client: int | None = self._library.rd_kafka_new(_PRODUCER, conf, text, _TEXT_BYTES)
        if self._client is None:
            raise MockClusterError(f"librdkafka cannot start: {text.value.decode(errors='replace')}")
        self._cluster: int | None = self._library.rd_kafka_mock_cluster_new(self._client, brokers)
        if self._cluster is None:
            self.close()
            raise MockClusterError("librdkafka cannot start a mock cluster: no free port or file descriptor")
        #: ``HOST:PORT[,HOST:PORT…]`` of its brokers.
        self.bootstrap_servers: str = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic.

        Raises:
            ConfigError: ``partitions`` is not positive.
            MockClusterError: the topic exists, or the cluster is closed.
        """
        if partitions < 1:
            message = f"partitions is {partitions}; expected at least 1"
            raise ConfigError(message, field="partitions", value=partitions, minimum=1)
        if self._cluster is None:
            raise MockClusterError("the mock cluster is closed")
        refused = self._library.rd_kafka_mock_topic_create(self._cluster, name.encode(), partitions, 1)
        if refused:
            reason = self._library.rd_kafka_err2str(refused).decode()
            raise MockClusterError(f"topic {name!r} was not created: {reason}", field="name", value=name)

    def close(self) -> None:
        """End it; its topics are gone. A second call does nothing."""
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            self._library.rd_kafka_mock_cluster_destroy(cluster)
        client, self._client = self._client, None
        if client is not None:
            self._library.rd_kafka_destroy(client)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _librdkafka() -> ctypes.CDLL:
    """Return the librdkafka that confluent-kafka has loaded: a name is also looked for in what its extension links to."""
    require("kafka", "confluent_kafka")
    from confluent_kafka import cimpl  # noqa: PLC0415

    library = ctypes.CDLL(cimpl.__file__)
    for name, (result, arguments) in _SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise MockClusterError(f"this build of librdkafka has no {name}, which the mock cluster needs") from None
        function.restype, function.argtypes = result, arguments
    return library
