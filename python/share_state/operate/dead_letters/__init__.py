"""Dead letters: the records that share groups gave up, told by their queues (KIP-1191) or by the share state, and sent again.

:class:`Letters` reads them, :class:`Filter` chooses, and :class:`Redrive` sends them to their topic or another one. A
:class:`Journal` keeps what was sent, so that a redrive that was interrupted goes on and sends nothing twice.
"""

from share_state.operate.dead_letters.cluster import Asking, GroupSettings
from share_state.operate.dead_letters.dead_letter import Cause, DeadLetter, Place, QueuePlace
from share_state.operate.dead_letters.errors import (
    ClusterRefusedError,
    InDoubtError,
    JournalDamagedError,
    JournalError,
    JournalInUseError,
    JournalOfAnotherRunError,
    NoSuchTopicError,
    SendError,
    UnknownGroupError,
)
from share_state.operate.dead_letters.filters import Filter
from share_state.operate.dead_letters.in_doubt import SETTLE_S, Doubt, resolve
from share_state.operate.dead_letters.intervals import Interval, Intervals
from share_state.operate.dead_letters.journal import Journal, read_journal
from share_state.operate.dead_letters.journal_state import Identity, JournalState, Sent
from share_state.operate.dead_letters.letter_payload import LetterPayload, payloads_of
from share_state.operate.dead_letters.redrive import Execution, Outcome, Redrive, RedriveRow
from share_state.operate.dead_letters.redriven_from import REDRIVEN_FROM
from share_state.operate.dead_letters.sending import Pace, Sender, TargetProducer
from share_state.operate.dead_letters.sources import Letters, Source, source_of
from share_state.operate.dead_letters.topic_log import TopicLog

__all__ = [
    "REDRIVEN_FROM",
    "SETTLE_S",
    "Asking",
    "Cause",
    "ClusterRefusedError",
    "DeadLetter",
    "Doubt",
    "Execution",
    "Filter",
    "GroupSettings",
    "Identity",
    "InDoubtError",
    "Interval",
    "Intervals",
    "Journal",
    "JournalDamagedError",
    "JournalError",
    "JournalInUseError",
    "JournalOfAnotherRunError",
    "JournalState",
    "LetterPayload",
    "Letters",
    "NoSuchTopicError",
    "Outcome",
    "Pace",
    "Place",
    "QueuePlace",
    "Redrive",
    "RedriveRow",
    "SendError",
    "Sender",
    "Sent",
    "Source",
    "TargetProducer",
    "TopicLog",
    "UnknownGroupError",
    "payloads_of",
    "read_journal",
    "resolve",
    "source_of",
]
