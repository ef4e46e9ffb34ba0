"""Settings of a gateway, under Kafka's names where Kafka has them."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from share_state._core import (
    GroupConfig,
    broker_config_entries,
    check_broker_config,
    check_group_config,
    effective_group_config,
)
from share_state.arguments import Sync
from share_state.errors import ConfigError
from share_state.gateway.access import Access
from share_state.gateway.limits import Limits
from share_state.kafka.bearer_tokens import TokenValidator
from share_state.kafka.client.peers import Address
from share_state.kafka.client.security import SecurityOptions

__all__ = ["ON_TRUNCATION", "GatewayOptions", "split_properties"]

_ANYWHERE: Final = Address("127.0.0.1", 0)
#: The one property that is the gateway's own.
ON_TRUNCATION: Final = "on.truncation"
_GROUPS: Final = frozenset(effective_group_config({}, {}))
_BROKER: Final = [entry["name"] for entry in broker_config_entries({})]


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """The settings of a gateway.

    Attributes:
        upstream: addresses of brokers of the upstream cluster to start from.
        path: directory of the state; created if it does not exist.
        listen: the address to listen on; port 0 picks a free port.
        advertised: the address that clients connect to; ``None`` for the one that they have connected to.
        node_id: id of the one broker that clients see.
        sync: when acknowledgements are on disk: ``always`` before their answer, ``interval`` soon after it, like a Kafka
            broker, ``never`` when the operating system writes them.
        repair: whether to cut damaged logs in ``path`` where the damage begins, which loses confirmed records.
        relay: whether to forward requests that the gateway does not serve to the upstream broker, which must be a single one.
        alongside: whether to serve an upstream that a gateway with another directory serves. Both deliver every record.
        broker: broker configurations under Kafka's names (``group.share.…``).
        groups: defaults of group configurations under Kafka's names (``share.…``).
        upstream_security: TLS and SASL towards upstream.
        ssl_context: TLS for clients. If it requires client certificates, their subject is the principal (``User:CN=…``).
        users: passwords by name, for SASL PLAIN and SCRAM of clients.
        tokens: takes a token of SASL OAUTHBEARER and returns the name of its bearer, or raises
            :class:`share_state.kafka.bearer_tokens.TokenRefusedError`. Without users and tokens every client is accepted.
        access: the permissions of principals.
        limits: the limits for clients.
        on_truncation: ``rewind`` forgets the states of offsets that upstream has truncated, so the new records there are
            delivered; ``keep`` retains them, as Kafka does.
        metrics: the address of /metrics, /healthz and /readyz; ``None`` for none.
    """

    upstream: tuple[Address, ...]
    path: Path
    listen: Address = _ANYWHERE
    advertised: Address | None = None
    node_id: int = 1
    sync: Sync = "always"
    repair: bool = False
    relay: bool = False
    alongside: bool = False
    broker: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    upstream_security: SecurityOptions = field(default_factory=SecurityOptions)
    ssl_context: ssl.SSLContext | None = None
    users: Mapping[str, str] | None = field(default=None, repr=False)
    tokens: TokenValidator | None = field(default=None, repr=False)
    access: Access = field(default_factory=Access)
    limits: Limits = field(default_factory=Limits)
    metrics: Address | None = None
    on_truncation: str = "rewind"

    def __post_init__(self) -> None:
        if not self.upstream:
            raise ConfigError("expected at least 1 upstream broker, got 0", field="upstream")
        if self.relay and len(self.upstream) != 1:
            raise ConfigError("expected 1 upstream broker with the relay", field="relay", value=len(self.upstream), maximum=1)
        if self.on_truncation not in {"rewind", "keep"}:
            message = f"{ON_TRUNCATION} is {self.on_truncation!r}; expected rewind or keep"
            raise ConfigError(message, field=ON_TRUNCATION, value=self.on_truncation)
        if self.node_id < 0:
            raise ConfigError(f"node_id is {self.node_id}; expected at least 0", field="node_id", value=self.node_id, minimum=0)
        _check(self.broker, self.groups)

    @property
    def max_share_sessions(self) -> int:
        """Number of share sessions that there may be at once (``group.share.max.share.sessions``)."""
        shown = {entry["name"]: entry["value"] for entry in broker_config_entries(self.broker)}
        return int(shown["group.share.max.share.sessions"])


def split_properties(properties: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Separate broker configurations from defaults of group configurations; what is neither counts as one of a broker."""
    groups = {name: value for name, value in properties.items() if name in _GROUPS}
    return {name: value for name, value in properties.items() if name not in _GROUPS}, groups


def _check(broker: Mapping[str, str], groups: Mapping[str, str]) -> None:
    """Refuse what is no configuration of a broker, and what no group may set.

    Programs, above all tests, may combine what a broker would not start with, such as sessions shorter than a heartbeat.

    Raises:
        ConfigError: a name that there is not, a value that its property cannot have, or one that the broker's bounds exclude.
    """
    try:
        GroupConfig.from_kafka(groups, broker)
    except ConfigError as wrong:
        raise wrong if wrong.value is not None else _unknown(str(wrong.field)) from None
    for name in [*(name for name in groups if name not in _GROUPS), *check_broker_config(broker, together=False)]:
        raise _unknown(name)
    for name, value in groups.items():
        check_group_config(name, value, broker)


def _unknown(name: str) -> ConfigError:
    near = get_close_matches(name, [*_GROUPS, *_BROKER, ON_TRUNCATION], n=1)
    hint = f"; expected such as {near[0]}" if near else ""
    return ConfigError(f"{name} is not a configuration of the gateway{hint}", field=name)
