"""Navigation of the site: each page of the repository and each page of the reference, once."""

from typing import NamedTuple


class Part(NamedTuple):
    """A part of the navigation: a caption, and pages by their paths in the repository or, made here, in `reference/`."""

    caption: str
    pages: tuple[str, ...]


#: The first page; its path is that of the site.
INDEX = "README.md"

PARTS = (
    Part(
        "Guide",
        ("docs/glossary.md", "ARCHITECTURE.md", "docs/state-machine.md", "docs/deliberate-differences.md", "rust/core/README.md"),
    ),
    Part(
        "How to",
        (
            "docs/embed.md",
            "docs/columns.md",
            "docs/in-an-asyncio-broker.md",
            "docs/in-a-threaded-broker.md",
            "docs/gateway.md",
            "deploy/README.md",
            "docs/testing-with-share-groups.md",
            "docs/kafka-cluster.md",
            "docs/operate.md",
            "docs/histories.md",
            "docs/verdicts.md",
            "docs/history-and-anomalies.md",
            "docs/spark.md",
        ),
    ),
    Part(
        "Reference",
        (
            "reference/engine.md",
            "reference/many.md",
            "reference/state.md",
            "reference/bytes.md",
            "reference/values.md",
            "reference/arguments.md",
            "reference/errors.md",
            "reference/persisters.md",
            "reference/asyncio.md",
            "reference/kafka.md",
            "reference/gateway.md",
            "reference/analysis.md",
            "reference/trace.md",
            "reference/live.md",
            "reference/payloads.md",
            "reference/dead_letters.md",
            "reference/frames.md",
            "reference/plot.md",
            "reference/simulation.md",
            "reference/testing.md",
            "reference/command-line.md",
            "reference/rust.md",
            "docs/commands.md",
            "docs/json-output.md",
            "docs/gateway-metrics.md",
            "docs/exporter-metrics.md",
            "docs/wire-and-log-format.md",
            "docs/earlier-formats.md",
        ),
    ),
    Part(
        "Measured",
        ("docs/benchmarks.md", "docs/benchmarks-gateway.md", "docs/benchmarks-spark.md", "benches/README.md"),
    ),
    Part(
        "Project",
        (
            "CONTRIBUTING.md",
            "docs/where-is.md",
            "docs/testing.md",
            "docs/judge.md",
            "docs/test-methods.md",
            "rust/proof/fuzz/README.md",
            "docs/decisions/README.md",
            "docs/releasing.md",
            "SECURITY.md",
            "CHANGELOG.md",
        ),
    ),
)

#: Pages that stand below another one: its glob.
BELOW = {"docs/decisions/README.md": "docs/decisions/0*.md"}

#: Pages whose heading says too little among the others.
TITLES = {"rust/core/README.md": "In Rust"}
