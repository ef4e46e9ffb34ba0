"""Administration: what every group tool asks, for groups and configurations that are there and that are not."""

from __future__ import annotations

from tests.gateway.differential.duel import Step
from tests.gateway.differential.model import Model
from tests.gateway.wire.codec import Message

_GROUP, _SET, _DELETE, _APPEND, _SUBTRACT = 32, 0, 1, 2, 3
_KEYS = (
    ("share.auto.offset.reset", ("earliest", "latest", "by_duration:PT1H", "nearest", "by_duration:-PT1H", "")),
    ("share.isolation.level", ("read_committed", "read_uncommitted", "READ_COMMITTED", "none")),
    ("share.record.lock.duration.ms", ("30000", "60000", "1", "-1", "x", "99999999999")),
    ("share.heartbeat.interval.ms", ("5000", "15000", "1", "0")),
    ("share.session.timeout.ms", ("45000", "60000", "1", "99999999")),
    ("share.delivery.count.limit", ("2", "5", "10", "1", "26", "many")),
    ("share.partition.max.record.locks", ("100", "2000", "10000", "1")),
    ("share.renew.acknowledge.enable", ("true", "false", "perhaps")),
    ("share.no.such.config", ("1",)),
)
#: Keys that the share groups of a gateway have as well: consumer and streams groups are not its business.
_SHARE_KEYS = [name for name, _ in _KEYS if name != "share.no.such.config"]


def list_groups(model: Model) -> None:
    """All, and by state and type, as every version can ask."""
    chance = model.chance
    version = chance.randint(0, 5)
    message: Message = {}
    if version >= 4:
        message["statesFilter"] = chance.choice(([], ["Stable"], ["empty"], ["Dead"], ["NoSuchState"], ["Empty", "Stable"]))
    if version >= 5:
        message["typesFilter"] = chance.choice(([], ["share"], ["SHARE"], ["consumer"], ["nonsense"]))
    model.duel.ask(Step("list groups", "ListGroups", version, lambda _: message))


def describe_classic(model: Model) -> None:
    """Asks what kafka-consumer-groups asks of a share group."""
    version = model.chance.randint(0, 6)
    group = model.chance.choice((model.group, "nobody", ""))
    model.duel.ask(Step("describe as a classic group", "DescribeGroups", version, lambda _: {"groups": [group]}))


def describe_consumer(model: Model) -> None:
    """Asks what tools ask first to know of which kind a group is; a gateway without a relay does not list it."""
    if not all(view.offers("ConsumerGroupDescribe") for view in model.duel.views):
        return
    groups = model.chance.sample([model.group, "nobody"], model.chance.randint(1, 2))
    version = model.chance.randint(0, 1)
    model.duel.ask(Step("describe as a consumer group", "ConsumerGroupDescribe", version, lambda _: {"groupIds": groups}))


def alter_configs(model: Model, group: str) -> None:
    """Configurations of a group of this episode: right and wrong ones."""
    chance = model.chance
    changes = []
    for name, values in chance.sample(_KEYS, chance.randint(1, 2)):
        operation = chance.choice((_SET, _SET, _SET, _DELETE, _APPEND, _SUBTRACT))
        changes.append(
            {"name": name, "configOperation": operation, "value": None if operation == _DELETE else chance.choice(values)}
        )
    resource = {"resourceType": _GROUP, "resourceName": chance.choice((group, group, group, "")), "configs": changes}
    resources = [resource] * (2 if chance.random() < 0.05 else 1)
    message = {"resources": resources, "validateOnly": chance.random() < 0.2}
    model.duel.ask(Step("alter configs", "IncrementalAlterConfigs", chance.choice((0, 1)), lambda _: message))
    describe_configs(model, group)


def describe_configs(model: Model, group: str) -> None:
    """The configurations of a group, of share groups only."""
    chance = model.chance
    version = chance.randint(1, 4)
    keys = chance.sample(_SHARE_KEYS, 3) if chance.random() < 0.3 else _SHARE_KEYS
    name = chance.choice((group, group, group, "never-configured", ""))
    resource = {"resourceType": _GROUP, "resourceName": name, "configurationKeys": keys}
    message: Message = {"resources": [resource], "includeSynonyms": chance.random() < 0.5}
    model.duel.ask(Step("describe configs", "DescribeConfigs", version, lambda _: message))


def list_config_resources(model: Model) -> None:
    """Asks for the groups that have configurations of their own, and for a kind that there is not."""
    types = model.chance.choice(([_GROUP], [_GROUP], [99]))
    model.duel.ask(Step("list config resources", "ListConfigResources", 1, lambda _: {"resourceTypes": types}))


def delete_groups(model: Model, groups: list[str]) -> None:
    """Delete groups, the empty name and nobody's among them."""
    version = model.chance.randint(0, 2)
    model.duel.ask(Step("delete groups", "DeleteGroups", version, lambda _: {"groupsNames": groups}))
