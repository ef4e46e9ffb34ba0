"""The share gateway: share groups for a cluster that has none (KIP-932).

It speaks Kafka's protocol to share consumers and administration tools. It reads record batches from an upstream cluster with
ordinary Fetch requests. The engine decides, and the gateway keeps the state of groups and share partitions in its own log.
"""

from share_state.gateway.access import Access, Operation, Resource, Rule, read_rules
from share_state.gateway.gateway import ShareGateway, serve_in_thread
from share_state.gateway.limits import Limits
from share_state.gateway.options import GatewayOptions, read_properties, split_properties

__all__ = [
    "Access",
    "GatewayOptions",
    "Limits",
    "Operation",
    "Resource",
    "Rule",
    "ShareGateway",
    "read_properties",
    "read_rules",
    "serve_in_thread",
    "split_properties",
]
