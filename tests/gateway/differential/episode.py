"""Group from its first member to its deletion, by random steps."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from tests.gateway.differential import acknowledging, admin, discovery, endings, malformed, offsets, sessions
from tests.gateway.differential.duel import Duel
from tests.gateway.differential.members import Membership
from tests.gateway.differential.model import Member, Model
from tests.gateway.differential.topics import TOPICS
from tests.gateway.groups import configure_group

_MEMBERS = 4
#: Weights of the steps that need a member, and of those that do not.
_WITH_A_MEMBER: list[tuple[int, Callable[[Model, Member], None]]] = [
    (30, sessions.fetch),
    (40, acknowledging.acknowledge),
    (8, endings.carried),
    (12, acknowledging.refused),
    (3, acknowledging.elsewhere),
    (3, acknowledging.stale),
    (3, sessions.stale),
    (3, sessions.refused),
    (2, endings.carried_too_early),
    (1, endings.close),
    (1, endings.disconnect),
]
_WITHOUT: list[tuple[int, Callable[[Model], None]]] = [
    (2, offsets.describe_offsets),
    (2, admin.list_groups),
    (1, admin.describe_classic),
    (2, discovery.find_coordinator),
    (2, discovery.metadata),
    (2, discovery.list_offsets),
    (1, admin.list_config_resources),
    (1, admin.describe_consumer),
    (1, discovery.api_versions),
    (1, discovery.describe_cluster),
    (1, offsets.moved),
    (1, offsets.bare),
    (2, malformed.malformed),
    (2, sessions.strange_places),
]
_MEMBERSHIP: list[tuple[int, Callable[[Membership], object]]] = [
    (1, Membership.join),
    (6, Membership.steady),
    (3, Membership.fenced),
    (4, Membership.refused),
    (2, Membership.describe),
    (1, Membership.leave),
]


def play(duel: Duel, seed: int, prefix: str, topics: list[str], steps: int) -> None:
    """Play one episode; a difference ends it."""
    chance = random.Random(seed)  # noqa: S311 - which steps
    group = f"{prefix}g{seed}"
    places = [(name, partition) for name in topics for partition in range(TOPICS[name.removeprefix(prefix)])]
    limit = chance.choice((5, 10))
    model = Model(duel, chance, group, places, limit, narrow=chance.random() < 0.25)
    settings = {"share.auto.offset.reset": "earliest", "share.delivery.count.limit": str(limit)}
    if chance.random() < 0.5:
        settings["share.isolation.level"] = "read_committed"
    if model.narrow:
        settings["share.partition.max.record.locks"] = "100"
    for view in duel.views:
        configure_group(view.side.share, group, **settings)
        configure_group(view.side.share, f"{group}-members", **settings)
    initialise(model, group, topics)
    endings.warm(model)
    model.members = [Member(model.new_member_id()) for _ in range(_MEMBERS)]
    membership = Membership(model, f"{group}-members", topics)
    membership.join()
    kinds: list[tuple[int, Callable[[], object]]] = [
        *((weight, partial(_with_a_member, do, model)) for weight, do in _WITH_A_MEMBER),
        *((weight, partial(do, model)) for weight, do in _WITHOUT),
        *((weight, partial(do, membership)) for weight, do in _MEMBERSHIP),
        (1, partial(admin.alter_configs, model, f"{group}-configured")),
    ]
    weights = [weight for weight, _ in kinds]
    for _ in range(steps):
        (chosen,) = chance.choices(kinds, weights)
        chosen[1]()
    finish(model, membership)


def _with_a_member(do: Callable[[Model, Member], None], model: Model) -> None:
    do(model, model.member())


def initialise(model: Model, group: str, topics: list[str]) -> None:
    """A member of the group has all of its partitions assigned, so that they have state, and leaves."""
    first = Membership(model, group, topics)
    first.topics = topics
    member = model.new_member_id()
    first.members[member] = topics
    for view in model.duel.views:
        view.member_epochs[member] = 0
        first.enter(view, member)
    first.settle()
    first.leave()


def finish(model: Model, membership: Membership) -> None:
    """Everybody goes, offsets are set and forgotten, the group is deleted."""
    chance = model.chance
    for member in model.members:
        endings.close(model, member)
    if membership.members:
        admin.delete_groups(model, [f"{model.group}-members", "nobody", ""])
    membership.leave_all()
    for _ in range(3):
        offsets.alter_offsets(model, chance.choice((model.group, f"{model.group}-new")))
        offsets.describe_offsets(model)
    for _ in range(2):
        offsets.delete_offsets(model, chance.choice((model.group, "nobody")))
        offsets.describe_offsets(model)
    admin.delete_groups(model, [model.group, f"{model.group}-members", f"{model.group}-new", "nobody"])
    admin.list_groups(model)
