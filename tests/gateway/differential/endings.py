"""Ends of sessions, and what has to be waited for then: an answer does not wait until records are released."""

from __future__ import annotations

from functools import partial

from tests.gateway.differential.acknowledging import enter, let_go, ranges, settle_answers, some_of, wire
from tests.gateway.differential.duel import Diverged, Step
from tests.gateway.differential.model import ACCEPT, REJECT, RELEASE, RENEW, Member, Model, Place
from tests.gateway.differential.sessions import ALL, FETCH, NOTHING, Limits, advance, handed_out, message, take
from tests.gateway.differential.topics import EMPTY
from tests.gateway.differential.view import View
from tests.gateway.patience import wait_until
from tests.gateway.wire.codec import Message

_WARM_MS = 5000
_WARM_EMPTY_MS = 50
#: Enough for a record a turn, where records are near their limit of deliveries.
_TURNS = 3000


def warm(model: Model) -> None:
    """Have both servers load every share partition, so that no later step meets one that is being initialised."""
    member = Member(model.new_member_id(), open=True)
    for place in model.places:
        # One at a time: a new session for each.
        if place[0].endswith(EMPTY):
            for view in model.duel.views:
                wait_until(partial(_lists, model, view, member, place), f"{view.name} lists {place}")
            continue
        limits: Limits = {"maxRecords": 1, "batchSize": 1, "maxWaitMs": _WARM_MS, "shareAcquireMode": 1}
        take(model, member, [place], [], version=2, limits=limits, first=True, label="warm")
    batches = {place: [[first, last, [ACCEPT]] for first, last in ranges(member.held[place])] for place in member.holds()}
    settle_answers(model, member, batches, "warm")


def _lists(model: Model, view: View, member: Member, place: Place) -> bool:
    """Returns true if a server lists a partition, which it does once it has loaded it, records or not."""
    view.session_epochs[member.name] = 0
    build = partial(message, model=model, member=member, epoch=0, places=[place], limits={"maxWaitMs": _WARM_EMPTY_MS})
    answer = model.duel.exchange_with(view, Step("warm", FETCH, 2, build, member.name))
    advance(view, member, answer)
    return isinstance(answer, dict) and bool(answer["responses"])


def carried(model: Model, member: Member) -> None:
    """Acknowledgements on the back of a ShareFetch that takes nothing: whether it would get what it released is a race."""
    if not (member.open and member.holds()):
        return
    chance = model.chance
    renewing = chance.random() < 0.2
    batches = some_of(model, member, (RENEW, ACCEPT) if renewing else (ACCEPT, RELEASE, REJECT))
    limits: Limits = {"maxRecords": 0}
    if renewing:
        limits |= {"isRenewAck": True, "minBytes": 0, "maxBytes": 0}
    closing = not renewing and not model.narrow and chance.random() < 0.1

    def build(view: View) -> Message:
        epoch = -1 if closing else view.session_epochs[member.name]
        return message(view, model, member, epoch, [], batches=wire(batches), limits=limits)

    answers = model.duel.ask(Step("carried acknowledgement", FETCH, 2, build, member.name))
    for view, answer in zip(model.duel.views, answers, strict=True):
        advance(view, member, answer)
    enter(model, member, batches, answers[0], "acknowledgeErrorCode")
    if closing:
        ended(model, member)


def carried_too_early(model: Model, member: Member) -> None:
    """Acknowledgements in a request that opens a session: refused, and the old session goes on."""
    if not member.holds():
        return
    batches = some_of(model, member, (ACCEPT,))

    def build(view: View) -> Message:
        return message(view, model, member, 0, [], batches=wire(batches), limits=NOTHING)

    model.duel.ask(Step("acknowledgement in epoch 0", FETCH, 2, build, member.name))


def close(model: Model, member: Member) -> None:
    """End a session; what its member holds is released, which the answer does not wait for."""
    if not member.open:
        return
    _settle_first(model, member)
    name = model.chance.choice((FETCH, "ShareAcknowledge"))

    def build(view: View) -> Message:
        whole = message(view, model, member, -1, [], limits=NOTHING)
        return whole if name == FETCH else {key: whole[key] for key in ("groupId", "memberId", "shareSessionEpoch")}

    model.duel.ask(Step("close", name, 2, build, member.name))
    ended(model, member)


def disconnect(model: Model, member: Member) -> None:
    """End the connection of a session, as a client that dies does; it comes back as another.

    A session that the same member has opened meanwhile may end with the old connection (KAFKA-19950).
    """
    if member.open:
        _settle_first(model, member)
    for view in model.duel.views:
        view.close(member.name)
    ended(model, member)
    member.name = model.new_member_id()


def _settle_first(model: Model, member: Member) -> None:
    if model.narrow:
        let_go(model, member, member.holds())


def ended(model: Model, member: Member) -> None:
    """A session has ended: wait until both servers have released its records, and see that they have."""
    held = {place: dict(offsets) for place, offsets in member.held.items() if offsets}
    member.open = False
    member.session = []
    member.held.clear()
    if held:
        drain(model, held)


def drain(model: Model, awaited: dict[Place, dict[int, int]]) -> None:
    """Take everything there is, with what was released among it, compare what it was, and let it go."""
    probe = Member(model.new_member_id(), open=True)
    model.probes += 1
    for place, counts in awaited.items():
        wanted = {offset for offset, count in counts.items() if count < model.limit}
        found = [_drain(model, view, probe, place, wanted) for view in model.duel.views]
        told = [{str(offset): count for offset, count in one.items()} for one in found]
        model.duel.compare(_drained(place), told[0], told[1])
        probe.held[place] = found[0]
    kind = model.chance.choice((ACCEPT, RELEASE))
    batches = {
        place: [[first, last, [kind]] for first, last in ranges(probe.held[place])] for place in awaited if probe.held[place]
    }
    if batches:
        settle_answers(model, probe, batches, "drained")


def _drain(model: Model, view: View, probe: Member, place: Place, wanted: set[int]) -> dict[int, int]:
    """Takes all that one server hands out of a partition until nothing is left; returns what is wanted of it."""
    found: dict[int, int] = {}
    view.session_epochs[probe.name] = 0
    dry = 0
    for turn in range(_TURNS):
        places = [place] if turn == 0 else []
        limits: Limits = {"maxRecords": ALL, "batchSize": ALL, "maxWaitMs": 50}
        epoch = view.session_epochs[probe.name]
        build = partial(message, model=model, member=probe, epoch=epoch, places=places, limits=limits)
        answer = model.duel.exchange_with(view, Step("drain", FETCH, 2, build, "probe"))
        advance(view, probe, answer)
        news = handed_out(view, answer).get(place, {})
        found.update(news)
        dry = 0 if news else dry + 1
        if wanted <= found.keys() and dry:
            return found
    missing = sorted(wanted - found.keys())
    model.duel.compare(_drained(place), {"missing": missing}, {"missing": f"in vain waited for at {view.name}"})
    raise Diverged("a released record did not come back")


def _drained(place: Place) -> Step:
    """Stands for the whole of it."""
    return Step("drained", FETCH, 2, lambda _: {"place": place})
