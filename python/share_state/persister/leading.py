"""Begin of share partitions: their states are initialised, read and loaded, one by one or many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec, TypeVar, cast

from share_state._core import (
    GroupConfig,
    NoOpStatePersister,
    ReadStateResult,
    SharePartition,
    StateStore,
    StateSummary,
    coordinator_key,
)
from share_state.errors import ArgumentValueError, ShareStateError, StoreError
from share_state.logs import PERSISTER
from share_state.persister.protocol import ManyAtOnce, Persister, refuse_async
from share_state.types import SharePartitionKey

__all__ = ["begin", "has_begun", "initialize_if_absent", "initialize_many_if_absent", "lead", "lead_many"]

P = ParamSpec("P")
T = TypeVar("T")

#: The summary of a state that was never initialised.
_NOT_BEGUN = StateSummary(0, 0, -1, -1)


def initialize_if_absent(persister: Persister, key: SharePartitionKey, state_epoch: int, start_offset: int) -> bool:
    """Initialise a state unless it exists, for example at the start of a program.

    ``Persister.reset_state`` *replaces* a state, unless it is called with the start offset that the state has now:
    once the start offset has moved, it forgets what was acknowledged. Reading and initialising are two requests, so call
    this in one place only.

    Args:
        persister: where the state is kept.
        key: the share partition.
        state_epoch: epoch of the new state, at least 0.
        start_offset: where it starts; -1 leaves it to the leader.

    Returns:
        Whether the state was initialised.

    Raises:
        ShareStateError: the persister refuses.
        TypeError: the persister is asynchronous; nothing was asked.
    """
    refuse_async(persister)
    if has_begun(persister.read_summary(key)):
        return False
    persister.reset_state(key, state_epoch, start_offset)
    return True


def initialize_many_if_absent(
    persister: Persister, keys: Iterable[SharePartitionKey], state_epoch: int, start_offset: int
) -> list[bool | ShareStateError]:
    """Initialise many states unless they exist: :func:`initialize_if_absent` of each, with one wait for the disk.

    Args:
        persister: where the states are kept; one that does not take many at once (:class:`ManyAtOnce`) is asked one by one.
        keys: the share partitions.
        state_epoch: epoch of the new states, at least 0.
        start_offset: where they start; -1 leaves it to the leader.

    Returns:
        For each, in their order, whether the state was initialised, or the error with which the persister refused.

    Raises:
        ShareStateError: the persister cannot be used, or a key is none; nothing was initialised.
        TypeError: the persister is asynchronous; nothing was asked.
    """
    refuse_async(persister)
    keys = list(keys)
    names = [coordinator_key(*key) for key in keys]
    absent: dict[str, SharePartitionKey] = {}
    outcomes: dict[str, bool | ShareStateError] = {}
    for key, name in zip(keys, names, strict=True):
        try:
            if has_begun(persister.read_summary(key)):
                outcomes[name] = False
            else:
                absent.setdefault(name, key)
        except StoreError:
            raise
        except ShareStateError as refused:
            outcomes[name] = refused
    if isinstance(persister, ManyAtOnce):
        answers = persister.reset_states([(key, state_epoch, start_offset) for key in absent.values()])
    else:
        answers = [_outcome(persister.reset_state, key, state_epoch, start_offset) for key in absent.values()]
    for name, answer in zip(absent, answers, strict=True):
        outcomes[name] = answer or True
    given = []
    for name in names:
        given.append(outcomes[name])
        # A repetition finds the state there.
        if outcomes[name] is True:
            outcomes[name] = False
    return given


def has_begun(summary: StateSummary) -> bool:
    """Tell from its summary whether a state exists. A state of epoch 0 that nobody has read looks like none."""
    return summary != _NOT_BEGUN


def lead(
    persister: Persister,
    key: SharePartitionKey,
    *,
    leader_epoch: int | None = None,
    config: GroupConfig | None = None,
    latest: int | None = None,
    earliest: int = 0,
    inline: bool = False,
) -> SharePartition:
    """Create the share partition of ``key`` and load its state from ``persister``.

    Args:
        persister: where the state is kept. The state must have been initialised.
        key: the share partition.
        leader_epoch: epoch of this leader; older leaders are fenced by the read. When it is absent, a
            :class:`~share_state.StateStore` gives the epoch after the last one (``StateStore.lead``).
        config: configuration of the group.
        latest: the high watermark of the partition. A state without start offset starts there if ``share.auto.offset.reset``
            is ``latest``, the default.
        earliest: the log start offset, for ``earliest``; or the offset that the caller has looked up, for ``by_duration``.
        inline: whether the share partition makes its writes itself, within the calls that lead to them, like Kafka's. The
            persister must then be a :class:`~share_state.StateStore`, a :class:`NoOpStatePersister` or a
            :class:`RecordingPersister`.

    Raises:
        ShareStateError: the persister refuses, or the state is corrupt.
        ArgumentValueError: the state has no start offset, and ``latest`` is required and missing.
        TypeError: ``inline`` with another persister, no ``leader_epoch`` with another than a ``StateStore``, or an asynchronous
            persister; no state was read.
    """
    refuse_async(persister)
    made = _new(persister, [key], leader_epoch=leader_epoch, config=config, inline=inline)
    if leader_epoch is None:
        (read,) = _read_each(persister, [key], None)
        if isinstance(read, ShareStateError):
            raise read
    else:
        read = (leader_epoch, persister.read_state(key, leader_epoch))
    return _begun(made, key, read, latest=latest, earliest=earliest)


def lead_many(
    persister: Persister,
    keys: Iterable[SharePartitionKey],
    *,
    leader_epoch: int | None = None,
    config: GroupConfig | None = None,
    latest: int | Mapping[SharePartitionKey, int] | None = None,
    earliest: int | Mapping[SharePartitionKey, int] = 0,
    inline: bool = False,
) -> list[SharePartition | ShareStateError]:
    """Create many share partitions: :func:`lead` of each, with one wait for the disk.

    The arguments are those of :func:`lead`. ``latest`` and ``earliest`` may also be mappings from key to offset. A persister that
    does not take many at once (:class:`ManyAtOnce`) is asked one by one.

    Returns:
        For each, in their order, the share partition, or the error that :func:`lead` would raise for it.

    Raises:
        StoreError: the store cannot be used; nothing was read.
        TypeError: as :func:`lead`; nothing was read.
    """
    refuse_async(persister)
    keys = [SharePartitionKey(*key) for key in keys]
    made = _new(persister, keys, leader_epoch=leader_epoch, config=config, inline=inline)
    given: list[SharePartition | ShareStateError] = []
    for key, read in zip(keys, _read_each(persister, keys, leader_epoch), strict=True):
        if isinstance(read, ShareStateError):
            given.append(read)
        else:
            given.append(_outcome(_begun, made, key, read, latest=_of(latest, key), earliest=_of(earliest, key) or 0))
    return given


def _new(
    persister: Persister,
    keys: list[SharePartitionKey],
    *,
    leader_epoch: int | None,
    config: GroupConfig | None,
    inline: bool,
) -> Callable[[SharePartitionKey, int], SharePartition]:
    """Return what makes share partitions, tried on each key: nobody is fenced where an argument is wrong."""
    asked = cast("StateStore | NoOpStatePersister", persister) if inline else None

    def new(key: SharePartitionKey, leader_epoch: int) -> SharePartition:
        return SharePartition(*key, leader_epoch=leader_epoch, config=config, persister=asked)

    for key in keys:
        new(key, leader_epoch or 0)
    return new


def _begun(
    new: Callable[[SharePartitionKey, int], SharePartition],
    key: SharePartitionKey,
    read: tuple[int, ReadStateResult],
    *,
    latest: int | None,
    earliest: int,
) -> SharePartition:
    leader_epoch, result = read
    share_partition = new(key, leader_epoch)
    begin(share_partition, result, latest=latest, earliest=earliest)
    return share_partition


def _read_each(
    persister: Persister, keys: list[SharePartitionKey], leader_epoch: int | None
) -> list[tuple[int, ReadStateResult] | ShareStateError]:
    """Return the leader epoch and the state of each, or the error."""
    if leader_epoch is None:
        if not isinstance(persister, StateStore):
            raise TypeError(f"leader_epoch is None; expected a number, as the persister is {persister!r} and no StateStore")
        return persister.read_states_as_next_leader(keys)
    reads: list[ReadStateResult | ShareStateError]
    if isinstance(persister, ManyAtOnce):
        reads = persister.read_states([(key, leader_epoch) for key in keys])
    else:
        reads = [_outcome(persister.read_state, key, leader_epoch) for key in keys]
    return [read if isinstance(read, ShareStateError) else (leader_epoch, read) for read in reads]


def _of(offset: int | Mapping[SharePartitionKey, int] | None, key: SharePartitionKey) -> int | None:
    return offset.get(key) if isinstance(offset, Mapping) else offset


def _outcome(call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T | ShareStateError:
    try:
        return call(*arguments, **named)
    except ShareStateError as refused:
        return refused


def begin(share_partition: SharePartition, read: ReadStateResult, *, latest: int | None, earliest: int) -> None:
    """Return a share partition the state that was read for it. The arguments are those of :func:`lead`."""
    strategy = share_partition.initialize(read)
    if strategy is not None:
        offset = latest if strategy == "latest" else earliest
        if offset is None:
            text = (
                "latest is None; expected the high watermark, as the state has no start offset and the group begins at the latest"
            )
            raise ArgumentValueError(text, field="latest")
        share_partition.resolve_start_offset(offset)
    key, leader_epoch, start_offset = share_partition.key, share_partition.leader_epoch, share_partition.start_offset
    PERSISTER.info("leading %r in leader epoch %d from offset %d", key, leader_epoch, start_offset)
