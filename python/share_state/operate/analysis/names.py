"""Form of ids, times and numbers in every output: a delivery state by its name, a time in ms as ISO 8601."""

from datetime import UTC, datetime, timedelta

from share_state.types import RecordState

_NAMES = {state.value: state.name.lower() for state in RecordState}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def state_name(state: int) -> str:
    """Name a delivery state by Kafka's id; one that this release does not know keeps its number."""
    return _NAMES.get(state, f"state-{state}")


def counted_state(state: int, count: int) -> str:
    """Name a delivery state and the delivery count that goes with it."""
    return f"{state_name(state)}×{count}"


def plural(number: int, noun: str) -> str:
    """Return a number with its noun: 1 record, 2,000 records."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def iso_8601(timestamp: int) -> str | None:
    """Return a wall-clock time in ms as ISO 8601 in UTC; None outside the calendar, where damaged or hostile times lie."""
    try:
        moment = _EPOCH + timedelta(milliseconds=timestamp)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def instant(timestamp: int) -> str:
    """Return the same for people: outside the calendar the ms themselves."""
    return iso_8601(timestamp) or f"{timestamp} ms"
