"""Episodes one after another, until so many answers were compared."""

from __future__ import annotations

from itertools import count

from tests.gateway.differential import episode, topics
from tests.gateway.differential.duel import Diverged, Duel

_STEPS = 250
#: Enough to see what is wrong: each ends an episode.
_DIFFERENCES = 40


def match(duel: Duel, seed: int, compared: int) -> None:
    """Make the topics on both sides and play until so many answers were compared."""
    prefix = f"{seed}-"
    names: list[str] = []
    for view in duel.views:
        names = topics.make(view.side.upstream, seed, prefix)
        view.learn_topics(names)
    for number in count():
        if duel.compared >= compared or len(duel.differences) >= _DIFFERENCES:
            break
        try:
            episode.play(duel, seed + number, prefix, names, _STEPS)
        except Diverged:
            pass
        finally:
            for view in duel.views:
                view.close_all()


def score(duel: Duel) -> str:
    """The counts, what was excused, and what was not."""
    lines = [f"{duel.requests} requests, {duel.compared} answers compared, {len(duel.differences)} differences"]
    lines += [f"  {times:6} answers of {name}" for name, times in duel.apis.most_common()]
    lines += [f"  {times:6} {what}" for what, times in sorted(duel.contents.items())]
    lines += [f"  {times:6} {label}" for label, times in duel.labels.most_common()]
    lines += [f"  {times:6} {name} code {code}" for (name, code), times in sorted(duel.codes.items())]
    lines += [f"  {times:6} excused: {reason}" for reason, times in duel.excused.most_common()]
    lines += [str(difference) for difference in duel.differences]
    return "\n".join(lines)
