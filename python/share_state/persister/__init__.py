"""The persisters that keep share-partition state, and the functions that use them (Kafka: ``Persister``).

* :class:`share_state.StateStore`, or ``share_state.open(path)``: a durable log in a directory.
* :class:`MemoryPersister`: the same rules without a disk, for tests and simulators.
* :class:`NoOpStatePersister`: keeps nothing, like Kafka's class of this name.
* :class:`RecordingPersister`: keeps the writes of share partitions, and answers as a test tells it.

:func:`lead` loads a share partition from a persister. Its writes reach the persister in one of two ways. :func:`drain_writes`
carries them there and the answers back, for any persister. Or the share partition makes them itself, within each call
(``inline``), with a :class:`~share_state.StateStore`, a :class:`NoOpStatePersister` or a :class:`RecordingPersister`.

:mod:`share_state.async_persister` has the same for event loops.
"""

from share_state._core import NoOpStatePersister, RecordingPersister
from share_state.persister.carrying import WriteAnswers
from share_state.persister.draining import drain_writes
from share_state.persister.leading import initialize_if_absent, initialize_many_if_absent, lead, lead_many
from share_state.persister.memory import MemoryPersister
from share_state.persister.protocol import ManyAtOnce, Persister

__all__ = [
    "ManyAtOnce",
    "MemoryPersister",
    "NoOpStatePersister",
    "Persister",
    "RecordingPersister",
    "WriteAnswers",
    "drain_writes",
    "initialize_if_absent",
    "initialize_many_if_absent",
    "lead",
    "lead_many",
]
