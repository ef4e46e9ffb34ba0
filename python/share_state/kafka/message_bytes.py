"""Largest record of the state topic in the cluster, asked of the brokers when a write first needs it."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from share_state.errors import ConfigError, ShareStateError
from share_state.kafka import codes
from share_state.kafka.client.peers import LostError
from share_state.kafka.clock import Clock, Timer
from share_state.kafka.cluster import Cluster
from share_state.kafka.errors import BrokerTooOldError, KafkaPersisterError

__all__ = ["DEFAULT_MAX_MESSAGE_BYTES", "MessageBytes"]

#: Kafka's default of ``message.max.bytes``, from which a topic has its ``max.message.bytes``.
DEFAULT_MAX_MESSAGE_BYTES: Final = 1_048_588
#: After so long the next write asks again, because an administrator may change it.
_ASK_AGAIN_SECONDS: Final = 600.0
_TOPIC, _NAME = "__share_group_state", "max.message.bytes"
_LOG = logging.getLogger("share_state.kafka")


class MessageBytes:
    """``max.message.bytes`` of ``__share_group_state``.

    It is as given. Otherwise it is what the cluster says, and Kafka's default where it does not say: the right
    ``DESCRIBE_CONFIGS`` is missing, there is no such topic yet, or no broker answers. A broker without DescribeConfigs is
    none of Kafka's, and refuses itself what it could not keep.

    Attributes:
        limit: the number last known; ``None`` if there is none.
        due: whether it is to be asked for before the next write.

    Raises:
        ConfigError: the number given is below 1.
    """

    def __init__(self, cluster: Cluster, clock: Clock, given: int | None) -> None:
        if given is not None and given < 1:
            text = f"max_message_bytes is {given}; expected at least 1"
            raise ConfigError(text, field="max_message_bytes", value=given, minimum=1)
        self.limit: int | None = DEFAULT_MAX_MESSAGE_BYTES if given is None else given
        self.due = given is None
        self._cluster = cluster
        self._clock = clock
        self._asking: asyncio.Task[None] | None = None
        self._timer: Timer | None = None

    async def ask(self) -> None:
        """Ask the cluster; those who ask together ask once. The number is no longer due then, whatever came of it."""
        if self._asking is None:
            self._asking = asyncio.get_running_loop().create_task(self._ask())
        await asyncio.shield(self._asking)

    async def close(self) -> None:
        """Ask no more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _ask(self) -> None:
        try:
            self.limit = await self._told()
        except BrokerTooOldError:
            self.limit = None
        except (LostError, ShareStateError) as error:
            _LOG.warning("%s of %s is not known: %s; taken for %s", _NAME, _TOPIC, error, self.limit)
        finally:
            self._asking = None
        self.due = False
        self._timer = self._clock.call_later(_ASK_AGAIN_SECONDS, self._grow_old)

    async def _told(self) -> int:
        text = await self._cluster.topic_config(_TOPIC, _NAME)
        if text is None or not (text.isascii() and text.isdigit()):
            raise KafkaPersisterError(f"the cluster says {text!r}", kafka_code=codes.UNKNOWN_SERVER_ERROR)
        return int(text)

    def _grow_old(self) -> None:
        self.due = True
