"""The records of data topics, read by offset: what a share group delivers, without being one of its members.

:class:`PayloadReader` joins no group, commits nothing and acquires nothing, so no delivery count changes by it.
"""

from share_state.payloads.payload import Missing, Payload, Reason
from share_state.payloads.reader import PayloadReader

__all__ = ["Missing", "Payload", "PayloadReader", "Reason"]
