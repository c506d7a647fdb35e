"""What volume costs: processor time of building legacy launchers, and cases a second once they are built.

`./run python tests/bench/volume_rounds.py [DIALECT...]`, by default one dialect of each way to judge. Cases are drawn,
run by both launchers, compared and judged in this process, as a worker's child does it. Launchers are built in one
unit, as those of one dialect among several are; what is done once in a process counts as well. Each of some random
signatures has ten rounds; the one with the least processor time counts, because other work on the machine makes the
others longer.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from relaunch.differential import tasks, volume
from relaunch.differential.diff import OPTIMIZE
from relaunch.differential.invented import invented
from relaunch.differential.launching import Runner
from relaunch.differential.sampler import Source

from relaunch import generator

DIALECTS = ("triton-3.6-cuda", "triton-3.0-cuda", "triton-3.9-cuda")
SIGNATURES, ROUNDS, CASES = 140, 10, 200
TIMED = 6  # of the signatures
SEED = 1


def processor_seconds() -> float:
    """Of this process and its children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def seconds(runner: Runner, duel: tasks.Duel) -> float:
    """The processor time of one duel. AssertionError where something differs that should not."""
    contest = volume.Contest.of(duel)
    assert contest.source.sampler is not None  # made outside the clock
    said: list[bytes] = []
    referee = volume.Referee(runner, [contest], volume.Shared(), said.append)
    begin = time.process_time()
    referee.run()
    taken = time.process_time() - begin
    assert not any(b"alone" in line for line in said)
    return taken


def measure(dialect: str, runner: Runner, cache: Path) -> str:
    """One line of figures."""
    signatures = invented(dialect, SIGNATURES, SEED)
    built: Sequence[generator.Built | None] = [None] * len(signatures)
    cost = "no launchers to build"
    if not generator.facts(dialect).native:
        begin = processor_seconds()
        built = generator.build([Source(dialect, one, SEED).spec() for one in signatures], cache, 1, OPTIMIZE)
        cost = f"{1e3 * (processor_seconds() - begin) / len(signatures):.1f} ms of processor time a launcher"
    least = 0.0
    for signature, launcher in list(zip(signatures, built, strict=True))[:TIMED]:
        starts = range(0, ROUNDS * CASES, CASES)
        duels = [tasks.Duel(dialect, signature, SEED, start, start + CASES, launcher) for start in starts]
        least += min(seconds(runner, duel) for duel in duels)
    return f"{dialect}: {cost}; {TIMED * CASES / least:,.0f} cases/s"


def main() -> None:
    runners: dict[str, Runner] = {}
    with tempfile.TemporaryDirectory(prefix="relaunch-bench-") as folder:
        for dialect in sys.argv[1:] or DIALECTS:
            backend = generator.facts(dialect).backend
            if backend not in runners:
                runners[backend] = Runner(backend)
            print(measure(dialect, runners[backend], Path(folder)), flush=True)


if __name__ == "__main__":
    main()
