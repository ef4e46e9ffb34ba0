"""Break the network code one place at a time and see whether a test notices: `python -m scripts.mutants_python`.

Prints a table by module and what lives without being listed in known.toml; then the status is 1, as it is where the list
names what is no mutant, or what does not live.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

from scripts.mutants_python.known import change_of, complaints, listed
from scripts.mutants_python.results import CAUGHT, LIVES, NO_TYPES, TIMED_OUT, UNTESTED, UNTRIED, WORDS, Mutant, mutants
from scripts.mutants_python.viable import refuse
from scripts.mutants_python.workplace import REPOSITORY, Workplace

_BUILD: Final = REPOSITORY / "build"
#: Workers: a mutant that hangs needs none of the processor.
_CHILDREN: Final = 12
#: Modules of a sample: to make their mutants and to check their types takes most of its time.
_SAMPLED_MODULES: Final = 3


class Area(NamedTuple):
    """Modules, and the quickest tests that are enough for them: none starts a broker, a JVM or a process of the command."""

    folder: str
    tests: tuple[str, ...]

    def modules(self) -> list[str]:
        """Name the files that are mutated, in the copy."""
        package = REPOSITORY / "python"
        return [str(path.relative_to(package)) for path in sorted((package / self.folder).rglob("*.py"))]


_KAFKA: Final = tuple(REPOSITORY / "tests" / "kafka" / part for part in ("client", "persister", "server"))
AREAS: Final = {
    "kafka": Area(
        "share_state/kafka",
        tuple(
            str(path.relative_to(REPOSITORY))
            for folder in _KAFKA
            for path in sorted(folder.glob("test_*.py"))
            if path.name not in {"test_cli_coordinator.py", "test_real_security.py"}
        ),
    ),
    "gateway": Area(
        "share_state/gateway",
        tuple(
            f"tests/gateway/{part}"
            for part in ("connections", "coordination", "delivery", "faults", "hostile", "operation", "topics")
        ),
    ),
}


def main() -> int:
    """Run mutmut on an area, or on a sample of one, and judge what it found."""
    parser = argparse.ArgumentParser(prog="mutants_python", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"of {', '.join(AREAS)}; otherwise all")
    parser.add_argument("--modules", nargs="*", help="only these, as share_state/kafka/framing.py")
    parser.add_argument("--again", action="store_true", help="try again what lived")
    parser.add_argument("--sample", type=int, metavar="COUNT", help="only so many mutants of some modules, drawn anew")
    parser.add_argument("--wide", action="store_true", help="the sample is drawn from all modules, which takes longer")
    parser.add_argument("--seed", type=int, help="repeats a sample")
    arguments = parser.parse_args()
    if unknown := set(arguments.areas) - set(AREAS):
        parser.error(f"no area: {', '.join(sorted(unknown))}")
    if arguments.sample is not None:
        # The tests of the gateway alone take longer than a minute: it is drawn where it is named.
        seed = random.SystemRandom().getrandbits(32) if arguments.seed is None else arguments.seed
        areas = arguments.areas or ["kafka"]
        return max(_sample(name, seed, arguments.sample, wide=arguments.wide) for name in areas)
    return max(
        _whole(name, arguments.modules or AREAS[name].modules(), again=arguments.again) for name in arguments.areas or AREAS
    )


def _made(name: str, folder: Path, modules: list[str]) -> Workplace:
    """Make the mutants of some modules, and leave out what has no types; whole runs and samples begin with it."""
    place = Workplace(folder / name)
    place.renew()
    place.configure(modules, AREAS[name].tests)
    if status := place.generate():
        raise SystemExit(status)
    refuse(place.folder, modules)
    return place


def _whole(name: str, modules: list[str], *, again: bool) -> int:
    place = _made(name, _BUILD / "mutants-python", modules)
    known = listed()
    lived = [one.name for one in _of(place, modules) if one.verdict in {LIVES, UNTESTED} and change_of(one) not in known]
    if again and lived and (status := place.try_all(_CHILDREN, lived)):
        return status
    if status := place.try_all(_CHILDREN):
        return status
    made = _of(place, modules)
    return _judge(made, made)


def _sample(name: str, seed: int, size: int, *, wide: bool) -> int:
    chance = random.Random(seed)  # noqa: S311  a test's
    modules = AREAS[name].modules()
    if not wide:
        modules = chance.sample(modules, _SAMPLED_MODULES)
    place = _made(name, _BUILD / "mutants-python-sample", modules)
    viable = [one.name for one in _of(place, modules) if one.verdict != NO_TYPES]
    drawn = set(chance.sample(viable, min(size, len(viable))))
    print(f"seed {seed}: {len(drawn)} of the {len(viable)} viable mutants of {'all' if wide else ', '.join(modules)}", flush=True)
    if drawn and (status := place.try_all(_CHILDREN, sorted(drawn))):
        return status
    made = _of(place, modules)
    return _judge([one for one in made if one.name in drawn], made)


def _of(place: Workplace, modules: list[str]) -> list[Mutant]:
    wanted = {module.removesuffix(".py").replace("/", ".") for module in modules}
    return [one for one in mutants(place.folder) if one.name.partition(".x")[0] in wanted]


def _judge(tried: list[Mutant], made: list[Mutant]) -> int:
    if not tried or any(one.verdict == UNTRIED for one in tried):
        print("a mutant was not tried, or there is none", file=sys.stderr)
        return 1
    known = listed()
    rows: dict[str, Counter[str]] = {}
    for mutant in tried:
        verdict = "listed" if mutant.verdict in {LIVES, UNTESTED} and change_of(mutant) in known else mutant.verdict
        module = mutant.name.partition(".x")[0].removeprefix("share_state.")
        for row in (module, "all"):
            rows.setdefault(row, Counter())[verdict] += 1
    rows["all"] = rows.pop("all")
    print("| module | mutants | no types | viable | caught | of them by time | words | listed | live | untested | % |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for module, counts in rows.items():
        viable = counts.total() - counts[NO_TYPES]
        caught = counts[CAUGHT] + counts[TIMED_OUT]
        share = f"{100 * caught / viable:.1f}" if viable else "–"
        print(
            f"| {module} | {counts.total()} | {counts[NO_TYPES]} | {viable} | {caught} | {counts[TIMED_OUT]} "
            f"| {counts[WORDS]} | {counts['listed']} | {counts[LIVES]} | {counts[UNTESTED]} | {share} |"
        )
    wrong = complaints(tried, made, known)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
