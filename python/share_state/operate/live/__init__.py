"""The live view of a cluster's share groups, on which the operators' tools stand.

:class:`LiveView` follows the state topic ``__share_group_state`` of a running cluster. It asks the brokers for the rest: names
and ends of topics, members, assignments, configurations. What it shows is plain data, a :class:`View` of groups and share
partitions, each with a word for how it does. It joins no group, acquires no record and changes nothing.
"""

from share_state.operate.live.asked import Member
from share_state.operate.live.health import Health, Verdict
from share_state.operate.live.live_row import LiveRow
from share_state.operate.live.live_view import LiveView
from share_state.operate.live.rates import Rates
from share_state.operate.live.view import GroupView, SharePartitionView, View

__all__ = ["GroupView", "Health", "LiveRow", "LiveView", "Member", "Rates", "SharePartitionView", "Verdict", "View"]
