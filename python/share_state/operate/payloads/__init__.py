"""The records of data topics, read by offset: what a share group delivers, without being one of its members.

:class:`PayloadReader` joins no group, commits nothing and acquires nothing, so no delivery count changes by it. :class:`Showing`
decodes what it reads, hides what is to be hidden, and cuts it to a size.
"""

from share_state.operate.payloads.decoding import Format
from share_state.operate.payloads.payload import Missing, Payload, Reason
from share_state.operate.payloads.reader import PayloadReader
from share_state.operate.payloads.redaction import Redaction
from share_state.operate.payloads.showing import Showing, Shown, ShownHeader, ShownRecord

__all__ = [
    "Format",
    "Missing",
    "Payload",
    "PayloadReader",
    "Reason",
    "Redaction",
    "Showing",
    "Shown",
    "ShownHeader",
    "ShownRecord",
]
