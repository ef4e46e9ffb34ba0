"""Names in a query, so that a rule or a panel cannot ask for what the exporter does not tell."""

from __future__ import annotations

import re

from share_state.operate.live.metric_table import METRICS

#: Prometheus' own.
_OWN = {"up": set[str]()}
#: Labels that every series has from its scrape.
_OF_THE_SCRAPE = {"job", "instance"}
_TELLS = {metric.exposed: set(metric.labels) for metric in METRICS} | _OWN
_WORDS = frozenset(
    {"absent", "and", "bool", "by", "count", "deriv", "group_left", "increase", "max", "min", "on", "or", "rate", "resets", "sum"}
    | {"topk", "unless", "vector", "without"}
)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR = re.compile(r"([a-z_]\w*)\s*\{([^}]*)\}")
_MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_RANGE = re.compile(r"\[[^]]*\]")
_NAME = re.compile(r"(?<![\w.$])[a-zA-Z_]\w*")


def unknown_names(query: str) -> set[str]:
    """Metrics that the table does not have, labels that its metric does not have, and words that are no function in use here."""
    text = _TEXT.sub('""', query)
    found = set()
    for name, matchers in _SELECTOR.findall(text):
        labels = _TELLS.get(name, set()) | _OF_THE_SCRAPE
        found |= {f"{name}{{{label}}}" for label in _MATCHER.findall(matchers) if label not in labels}
    named = metrics_of(query)
    known = _OF_THE_SCRAPE.union(*(_TELLS[name] for name in named))
    found |= {label for group in _GROUPING.findall(text) for label in re.findall(r"\w+", group) if label not in known}
    rest = _RANGE.sub("", _GROUPING.sub("", _SELECTOR.sub(r"\1", text)))
    return found | {name for name in _NAME.findall(rest) if name not in _WORDS and name not in _TELLS}


def metrics_of(query: str) -> set[str]:
    """The metrics of the table that a query asks for."""
    return _TELLS.keys() & set(_NAME.findall(_TEXT.sub('""', query)))
