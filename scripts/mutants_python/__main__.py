"""Break the network code one place at a time and see whether a test notices: `python -m scripts.mutants_python`.

Prints a table by module and what lives without being listed in known.toml; then the status is 1, as it is where the list
names what is no mutant, or what does not live.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from typing import Final, NamedTuple

from scripts.mutants_python.known import change_of, complaints, listed
from scripts.mutants_python.results import CAUGHT, LIVES, NO_TYPES, TIMED_OUT, UNTESTED, UNTRIED, WORDS, Mutant, mutants
from scripts.mutants_python.workplace import REPOSITORY, Workplace

_BUILD: Final = REPOSITORY / "build"
#: Workers: a mutant that hangs needs none of the processor.
_CHILDREN: Final = 12
#: Lines of source that a sample's modules have at least.
_SAMPLED_LINES: Final = 300


class Area(NamedTuple):
    """Modules, and the quickest tests that are enough for them: none starts a broker, a JVM or a process of the command."""

    folder: str
    tests: tuple[str, ...]

    def modules(self) -> list[str]:
        """Name the files that are mutated, in the copy."""
        package = REPOSITORY / "python"
        return [str(path.relative_to(package)) for path in sorted((package / self.folder).rglob("*.py"))]


_KAFKA: Final = "tests/python/kafka_persister"
AREAS: Final = {
    "kafka": Area(
        "share_state/kafka",
        tuple(
            f"{_KAFKA}/{path.name}"
            for path in sorted((REPOSITORY / _KAFKA).glob("test_*.py"))
            if path.name not in {"test_cli_coordinator.py", "test_real_security.py"}
        ),
    ),
    "gateway": Area("share_state/gateway", ("tests/python/gateway", "tests/gateway/faults", "tests/gateway/hostile")),
}


def main() -> int:
    """Run mutmut on an area, or on a sample of one, and judge what it found."""
    parser = argparse.ArgumentParser(prog="mutants_python", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"of {', '.join(AREAS)}; otherwise all")
    parser.add_argument("--modules", nargs="*", help="only these, as share_state/kafka/framing.py")
    parser.add_argument("--sample", action="store_true", help="a tenth of some modules, drawn anew")
    parser.add_argument("--seed", type=int, help="repeats a sample")
    parser.add_argument("--again", action="store_true", help="try again what lived")
    arguments = parser.parse_args()
    if unknown := set(arguments.areas) - set(AREAS):
        parser.error(f"no area: {', '.join(sorted(unknown))}")
    if arguments.sample:
        return _sample(random.SystemRandom().getrandbits(32) if arguments.seed is None else arguments.seed)
    return max(_whole(name, arguments.modules, again=arguments.again) for name in arguments.areas or AREAS)


def _whole(name: str, modules: list[str] | None, *, again: bool) -> int:
    area = AREAS[name]
    place = Workplace(_BUILD / "mutants-python" / name)
    place.renew()
    place.settle(modules or area.modules(), area.tests)
    known = listed()
    names = []
    if again:
        lived = [one for one in mutants(place.folder) if one.verdict in {LIVES, UNTESTED} and change_of(one) not in known]
        names = [one.name for one in lived]
    if status := place.mutmut("run", "--max-children", str(_CHILDREN), *names):
        return status
    wanted = {module.removesuffix(".py").replace("/", ".") for module in modules or area.modules()}
    found = [one for one in mutants(place.folder) if one.name.partition(".x")[0] in wanted]
    return _judge(found, whole=True)


def _sample(seed: int) -> int:
    chance = random.Random(seed)  # noqa: S311  a test's
    name = chance.choice(sorted(AREAS))
    area = AREAS[name]
    modules: list[str] = []
    lines = 0
    for module in chance.sample(area.modules(), len(area.modules())):
        if lines < _SAMPLED_LINES:
            modules.append(module)
            lines += len((REPOSITORY / "python" / module).read_text().splitlines())
    digit = chance.randrange(10)
    print(f"seed {seed}: the mutants of {', '.join(modules)} whose number ends in {digit}")
    place = Workplace(_BUILD / "mutants-python-sample" / name)
    place.renew()
    place.settle(modules, area.tests)
    status = place.mutmut("run", "--max-children", str(_CHILDREN), f"*__mutmut_*{digit}")
    if status:
        return status
    tried = [one for one in mutants(place.folder) if one.verdict != UNTRIED and one.name.endswith(str(digit))]
    if not tried:
        print("no mutant was tried", file=sys.stderr)
        return 1
    return _judge(tried, whole=False)


def _judge(found: list[Mutant], *, whole: bool) -> int:
    if not found:
        print("no mutant was made", file=sys.stderr)
        return 1
    known = listed()
    rows: dict[str, Counter[str]] = {}
    for mutant in found:
        verdict = "listed" if mutant.verdict in {LIVES, UNTESTED} and change_of(mutant) in known else mutant.verdict
        module = mutant.name.partition(".x")[0].removeprefix("share_state.")
        for row in (module, "all"):
            rows.setdefault(row, Counter())[verdict] += 1
    rows["all"] = rows.pop("all")
    print("| module | mutants | no types | viable | caught | of them by time | words | listed | live | untested | % |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for module, counts in rows.items():
        viable = counts.total() - counts[NO_TYPES] - counts[UNTRIED]
        caught = counts[CAUGHT] + counts[TIMED_OUT]
        share = f"{100 * caught / viable:.1f}" if viable else "–"
        print(
            f"| {module} | {counts.total()} | {counts[NO_TYPES]} | {viable} | {caught} | {counts[TIMED_OUT]} "
            f"| {counts[WORDS]} | {counts['listed']} | {counts[LIVES]} | {counts[UNTESTED]} | {share} |"
        )
    wrong = complaints(found, known, whole=whole)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
