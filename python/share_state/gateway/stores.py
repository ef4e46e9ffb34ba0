"""The two logs of a gateway: the states of share partitions, and the share groups."""

from contextlib import ExitStack

from share_state._core import ShareGroupStore, StateStore
from share_state.errors import CorruptLogError
from share_state.gateway.options import GatewayOptions


def open_stores(options: GatewayOptions, opened: ExitStack) -> tuple[StateStore, ShareGroupStore]:
    """Open both, to be closed by `opened`. A refusal names what is damaged in either, as one consent is for both.

    Raises:
        CorruptLogError: one is damaged, or both.
        StoreError: one is in use, or the disk fails.
    """
    try:
        states = opened.enter_context(StateStore(options.path / "state", sync=options.sync, repair=options.repair))
    except CorruptLogError as damaged:
        if options.repair:
            # What no repair mends: that of the other log would be for nothing.
            raise
        try:
            _groups(options).close()
        except CorruptLogError as also:
            raise _of_both(damaged, also) from None
        raise
    return states, opened.enter_context(_groups(options))


def _groups(options: GatewayOptions) -> ShareGroupStore:
    broker = dict(options.broker)
    return ShareGroupStore(options.path / "groups", broker_config=broker, sync=options.sync, repair=options.repair)


def _of_both(states: CorruptLogError, groups: CorruptLogError) -> CorruptLogError:
    """One refusal for two logs; that of the one which no repair mends, if there is one."""
    for damaged in (states, groups):
        if not damaged.repairs:
            return damaged
    return CorruptLogError(
        f"{states}; {groups}",
        segment=states.segment,
        position=states.position,
        kind=states.kind,
        repairs=[*states.repairs, *groups.repairs],
    )
