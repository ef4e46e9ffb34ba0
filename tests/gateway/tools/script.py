"""Every verb of the share-group tools, in one script."""

from __future__ import annotations

from tests.gateway.tools.compare import Session

GROUP, TOPIC, RECORDS = "tools", "tooled", 40
_SHARE, _CONFIGS = "kafka-share-groups", "kafka-configs"
_CONSOLE, _VERIFIABLE, _PERF = "kafka-console-share-consumer", "kafka-verifiable-share-consumer", "kafka-share-consumer-perf-test"


def every_verb(session: Session) -> None:
    """All of them, over one topic of two partitions."""
    session.create_topic(TOPIC, 2)
    for partition in (0, 1):
        session.produce(TOPIC, [b"%d-%d" % (partition, number) for number in range(RECORDS // 2)], partition)
    unknown_group(session)
    configs(session)
    consumers(session)
    group_with_a_member(session)
    reset_offsets(session)
    delete_offsets(session)
    delete_groups(session)


def unknown_group(session: Session) -> None:
    """Group that nobody has heard of."""
    for verb in ("--offsets", "--members", "--state"):
        session.run(_SHARE, "--describe", "--group", "nobody", verb)
    session.run(_SHARE, "--delete", "--group", "nobody")
    session.run(_SHARE, "--delete-offsets", "--group", "nobody", "--topic", TOPIC)
    session.run("kafka-consumer-groups", "--describe", "--group", "nobody")


def configs(session: Session) -> None:
    """Configurations of groups: set, shown, refused, taken back."""
    entity = ("--entity-type", "groups", "--entity-name", GROUP)
    session.run(_CONFIGS, *entity, "--describe")
    for change in (
        "share.auto.offset.reset=earliest",
        "share.auto.offset.reset=by_duration:PT1H,share.isolation.level=read_committed",
        "share.auto.offset.reset=earliest,share.isolation.level=read_uncommitted,share.session.timeout.ms=50000",
        "share.auto.offset.reset=nearest",
        "share.record.lock.duration.ms=1",
        "share.heartbeat.interval.ms=1000000",
        "share.delivery.count.limit=many",
        "share.no.such.config=1",
    ):
        session.run(_CONFIGS, *entity, "--alter", "--add-config", change)
        session.run(_CONFIGS, *entity, "--describe")
    session.run(_CONFIGS, *entity, "--alter", "--delete-config", "share.session.timeout.ms")
    session.run(_CONFIGS, *entity, "--alter", "--delete-config", "share.session.timeout.ms")
    session.run(_CONFIGS, "--entity-type", "groups", "--describe")


def consumers(session: Session) -> None:
    """The three tools that consume: each record once."""
    formatted = ("--formatter-property", "print.offset=true", "--formatter-property", "print.partition=true")
    single = ("--topic", TOPIC, "--group", GROUP)
    session.run(_CONSOLE, *single, "--max-messages", str(RECORDS), "--timeout-ms", "20000")
    session.run(_CONSOLE, *single, "--timeout-ms", "1000", *formatted)
    for mode in ("auto", "sync", "async"):
        verifiable = ("--topic", TOPIC, "--group-id", f"{GROUP}-{mode}", "--acknowledgement-mode", mode)
        session.run(_VERIFIABLE, *verifiable, "--offset-reset-strategy", "earliest", "--max-messages", str(RECORDS))
    session.run(_CONFIGS, "--entity-type", "groups", "--entity-name", f"{GROUP}-perf", "--alter", "--add-config",
                "share.auto.offset.reset=earliest")  # fmt: skip
    session.run(_PERF, "--topic", TOPIC, "--group", f"{GROUP}-perf", "--num-records", str(RECORDS), "--timeout", "30000")


def group_with_a_member(session: Session) -> None:
    """Output and refusals while a member is there."""
    group = f"{GROUP}-sync"
    member = ("--topic", TOPIC, "--group-id", group)
    running = session.start(_VERIFIABLE, *member)
    session.members(group, 1)
    session.until(lambda out: f"{TOPIC}:0,1" in out, _SHARE, "--describe", "--group", group, "--members", "--verbose")
    for verb in (("--members",), ("--members", "--verbose"), ("--state",), ("--state", "--verbose"), ("--offsets",)):
        session.run(_SHARE, "--describe", "--group", group, *verb)
    session.run(_SHARE, "--list")
    for state in ((), ("Stable",), ("Empty",), ("stable,empty",), ("Dead",), ("NoSuchState",)):
        session.run(_SHARE, "--list", "--state", *state)
    session.run(_SHARE, "--delete", "--group", group)
    session.run(_SHARE, "--delete-offsets", "--group", group, "--topic", TOPIC)
    session.run(_SHARE, "--reset-offsets", "--group", group, "--topic", TOPIC, "--to-earliest", "--execute")
    session.finish(running, _VERIFIABLE, *member)
    session.members(group, 0)
    session.run(_SHARE, "--describe", "--group", group, "--members")
    session.run(_SHARE, "--describe", "--group", group, "--state")
    session.run("kafka-groups", "--list")
    session.run("kafka-groups", "--list", "--share")
    session.run("kafka-groups", "--list", "--group-type", "consumer")
    session.run("kafka-consumer-groups", "--list")
    session.run("kafka-consumer-groups", "--describe", "--group", group)


def reset_offsets(session: Session) -> None:
    """Every way to say where."""
    reset = ("--reset-offsets", "--group", GROUP)
    described = ("--describe", "--group", GROUP, "--offsets")
    # Not recorded: how far the start offset has come when nothing is left to do depends on which write was the last.
    session.until(lambda out: [line.split()[-1] for line in out.splitlines() if TOPIC in line] == ["0", "0"], _SHARE, *described)
    for where in (
        ("--topic", TOPIC, "--to-earliest", "--dry-run"),
        ("--topic", TOPIC, "--to-earliest", "--execute"),
        ("--topic", f"{TOPIC}:1", "--to-latest", "--execute"),
        ("--topic", TOPIC, "--to-datetime", "2024-01-01T00:00:00.000", "--execute"),
        ("--topic", TOPIC, "--to-datetime", "2099-01-01T00:00:00.000", "--execute"),
        ("--all-topics", "--to-earliest", "--execute"),
        ("--topic", "no-such-topic", "--to-earliest", "--execute"),
        ("--topic", f"{TOPIC}:7", "--to-earliest", "--execute"),
        ("--topic", TOPIC, "--to-datetime", "yesterday", "--execute"),
    ):
        session.run(_SHARE, *reset, *where)
        session.run(_SHARE, *described)
    session.run(_SHARE, "--reset-offsets", "--group", f"{GROUP}-new", "--topic", TOPIC, "--to-latest", "--execute")
    session.run(_SHARE, "--describe", "--group", f"{GROUP}-new")
    again = ("--topic", TOPIC, "--group", GROUP, "--max-messages", str(RECORDS), "--timeout-ms", "20000")
    session.run(_CONSOLE, *again)
    session.members(GROUP, 0)


def delete_offsets(session: Session) -> None:
    """Offsets of a topic are forgotten, and those of one that has none."""
    for topic in (TOPIC, TOPIC, "no-such-topic"):
        session.run(_SHARE, "--delete-offsets", "--group", GROUP, "--topic", topic)
        session.run(_SHARE, "--describe", "--group", GROUP, "--offsets")


def delete_groups(session: Session) -> None:
    """Deletes a group, several of which one is not there, and all."""
    session.run(_SHARE, "--delete", "--group", GROUP)
    session.run(_SHARE, "--delete", "--group", f"{GROUP}-new", "--group", "nobody")
    session.run(_SHARE, "--list")
    session.run(_SHARE, "--delete", "--all-groups")
    session.run(_SHARE, "--list")
    session.run("kafka-groups", "--list")
    session.run(_CONFIGS, "--entity-type", "groups", "--entity-name", GROUP, "--describe")
