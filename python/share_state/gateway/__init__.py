"""The share gateway: share groups for a cluster that has none (KIP-932).

It speaks Kafka's protocol to share consumers and administration tools. It reads record batches from an upstream cluster with
ordinary Fetch requests. The engine decides, and the gateway keeps the state of groups and share partitions in its own log.
"""

from share_state._core import ShareFetchContext, ShareGroupStore, ShareSessions, simple_assignment
from share_state.gateway.access import Access, Operation, Resource, Rule, read_rules
from share_state.gateway.gateway import ShareGateway, serve_in_thread
from share_state.gateway.limits import Limits
from share_state.gateway.options import GatewayOptions, split_properties
from share_state.types import HeartbeatAnswer

__all__ = [
    "Access",
    "GatewayOptions",
    "HeartbeatAnswer",
    "Limits",
    "Operation",
    "Resource",
    "Rule",
    "ShareFetchContext",
    "ShareGateway",
    "ShareGroupStore",
    "ShareSessions",
    "read_rules",
    "serve_in_thread",
    "simple_assignment",
    "split_properties",
]
