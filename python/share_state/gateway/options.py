"""Settings of a gateway, under Kafka's names where Kafka has them."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from share_state.errors import ConfigError
from share_state.gateway.access import Access
from share_state.gateway.limits import Limits
from share_state.kafka.bearer_tokens import TokenValidator
from share_state.kafka.peers import Address
from share_state.kafka.security import SecurityOptions

__all__ = ["GatewayOptions", "read_properties", "split_properties"]

_ANYWHERE: Final = Address("127.0.0.1", 0)
_GROUP_PREFIXES: Final = ("share.", "errors.deadletterqueue.topic.name", "errors.deadletterqueue.copy.record.enable")
_BROKER_PREFIXES: Final = ("group.share.", "share.coordinator.", "errors.deadletterqueue.", "fetch.max.bytes")


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
    sync: str = "always"
    repair: bool = False
    relay: bool = False
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
            message = f"on.truncation is {self.on_truncation!r}, neither rewind nor keep"
            raise ConfigError(message, field="on.truncation", value=self.on_truncation)
        if self.node_id < 0:
            raise ConfigError(f"node_id is {self.node_id}; expected at least 0", field="node_id", value=self.node_id, minimum=0)


def read_properties(path: Path) -> dict[str, str]:
    """Read a Java properties file.

    Lines are ``key=value`` or ``key: value``, comments begin with ``#`` or ``!``, and a backslash continues a line.

    Raises:
        ConfigError: it cannot be read, or a line has no key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", field="config", value=str(path)) from None
    found: dict[str, str] = {}
    pending = ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = pending + raw.lstrip()
        if not pending and (not line.strip() or line[0] in "#!"):
            continue
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending = line[:-1]
            continue
        pending = ""
        ends = [at for at in (line.find("="), line.find(":")) if at >= 0]
        at = min(ends, default=len(line))
        key = line[:at].strip()
        if not key:
            raise ConfigError(f"{path}:{number}: a line without a key", field="config", value=number)
        found[key] = line[at + 1 :].strip()
    return found


def split_properties(properties: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Separate broker configurations from defaults of group configurations.

    Raises:
        ConfigError: a name is neither.
    """
    broker: dict[str, str] = {}
    groups: dict[str, str] = {}
    for name, value in properties.items():
        if name.startswith(_BROKER_PREFIXES) and name not in _GROUP_PREFIXES:
            broker[name] = value
        elif name.startswith(_GROUP_PREFIXES):
            groups[name] = value
        else:
            raise ConfigError(f"{name} is not a configuration of the gateway", field=name, value=value)
    return broker, groups
