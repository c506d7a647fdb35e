"""Volume: what native code counts is what is judged case by case, and a death or a hang costs one case."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import diff as engine
from relaunch.differential import pool, volume
from relaunch.differential.case import DIALECTS
from relaunch.differential.compare import VERDICTS
from relaunch.differential.diff import Fault, Tally, compare_cases, diff
from relaunch.differential.invented import invented
from relaunch.differential.sampler import Source, sample
from relaunch.differential.tasks import Duel, DuelResult, Duels

CUDA = "triton-3.6-cuda"
PLAIN: list[tuple[Any, ...]] = [("*i8", "i8", "fp16", "*fp32", "bf16", "u64", "i1"), ("*i8",)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_counts_are_those_of_each_case_judged_alone(dialect: str) -> None:
    signatures = [*PLAIN, *invented(dialect, 2, 11)]
    alone = Tally(dialect, tuple(signatures))
    compare_cases(alone, (case for one in signatures for case in sample(dialect, one, 80, 6)), pool.run_cases)
    found = diff(dialect, signatures, cases=80, seed=6)
    assert found == alone
    assert found.examples == alone.examples
    assert alone.faults == []
    assert min(alone.launches, alone.rejections, alone.nothing) > 0


DYING = """
import json, os, signal, sys, time
from relaunch.differential import volume, worker
from relaunch.differential.launching import Runner
from relaunch.differential.sampler import Source
from relaunch.differential.tasks import Duel, Duels
from relaunch import generator

WORDS = {
    "die": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: os._exit(0),
    "hang": lambda: time.sleep(60),
}
signature, word = ("*i8", "i32"), sys.argv[1]
source = Source("triton-3.6-cuda", signature, 2)
runner = Runner("cuda")  # with the recorder, which launchers are linked to
(built,) = generator.build([source.spec()], cache=generator.default_cache())
real = generator.load(built).launch

class Dying:
    @staticmethod
    def launch(*args):
        return WORDS[word]() if args[0] == 7 else real(*args)

generator.load = lambda _built: Dying
lines = []
parts = tuple(Duel(source.dialect, signature, 2, start, stop, built) for start, stop in ((10, 60), (0, 30)))
duels = Duels(parts, 1.0)
volume.run_duels(runner, duels, lines.append, worker.run_in_child)
for line in lines:
    print(line.decode())
"""


@pytest.mark.parametrize("word", ["die", "exit", "hang"])
def test_death_or_hang_costs_the_case_it_was_in(word: str) -> None:
    done = subprocess.run([sys.executable, "-c", DYING, word], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = iter(done.stdout.encode().splitlines(keepends=True))
    result = DuelResult.read(lambda: next(lines))
    source = Source(CUDA, ("*i8", "i32"), 2)
    last = {number for place, number, _ in result.alone if place == 1}
    deadly = {i for i in range(30) if source.call(i)["grid"][0] == 7}
    assert last <= deadly
    assert len(last) > 0.7 * len(deadly)  # the others are judged, and stop before they reach the launcher
    assert {number for place, number, _ in result.alone if place == 0} >= {i for i in last if i >= 10}
    assert [found for _, _, found in result.alone] == [""] * len(result.alone)
    assert sum(result.counts.values()) + len(result.alone) == 80
    assert set(result.counts) == set(VERDICTS)


def test_death_is_that_of_the_case_it_was_in_whatever_duel_the_child_began_with() -> None:
    def die(run: Any, shared: volume.Shared, timeout: float) -> None:
        words = shared.words
        if words[volume.PLACE] == 0:  # begins with the first duel, and dies in case 7 of the third
            words[volume.PLACE], words[volume.NUMBER] = 2, 7
            shared.begin(1.0)
        else:
            assert (words[volume.PLACE], words[volume.NUMBER]) == (2, 8)
            words[volume.PLACE] = 3

    lines: list[bytes] = []
    duels = tuple(Duel(CUDA, one, 2, 0, 20, None) for one in (("i8",), ("i16",), ("i32",)))
    no_runner: Any = None  # one would change this process, in which other tests run
    volume.run_duels(no_runner, Duels(duels, 1.0), lines.append, die)
    assert [json.loads(line).get("alone") for line in lines] == [[2, 7, ""], None]


NATIVE = """
import json, sys
from pathlib import Path
from relaunch.differential import volume
from relaunch.differential.launching import Runner
from relaunch.differential.sampler import Source
from relaunch.differential.tasks import Duel
from relaunch import generator

dialect, cache = sys.argv[1:3]
found = generator.facts(dialect)
signature = ("*fp16", "fp16", "i32", *([("bf16", "u8")] if found.tuples else ["u8"]), "fp32", "bf16")
source = Source(dialect, signature, 4)
runner = Runner(source.backend)
built = None if found.native else generator.build([source.spec()], Path(cache), optimize="-O0")[0]
judged = []
if "idle" in sys.argv:
    class Idle:
        slots = generator.slots(source.spec())
        def launch(self, *args):
            return None
    runner.precompiled = lambda task: Idle().launch
if "otherwise" in sys.argv:
    plain = runner.precompiled
    class Otherwise:
        slots = generator.slots(source.spec())
        def __init__(self, task):
            self.plain = plain(task)
        def launch(self, *args):
            try:
                return self.plain(*args)
            except Exception as error:
                raise EOFError from error
    runner.precompiled = lambda task: Otherwise(task).launch
if {"idle", "otherwise"} & {*sys.argv}:
    volume.Referee._judge = lambda self, contest, native, number: judged.append(number)
judge = volume.Referee._judge
volume.Referee._judge = lambda *args: judged.append(args[3]) or judge(*args)
shared, said = volume.Shared(), []
volume.Referee(runner, [volume.Contest.of(Duel(dialect, signature, 4, 0, 600, built))], shared, said.append).run()
assert not any(b"alone" in line for line in said), said
print(json.dumps({"judged": len(set(judged)), "halves": shared.words[volume.REWRITTEN], **shared.counts(dialect)}))
"""


def counted(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", NATIVE, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts: dict[str, Any] = json.loads(done.stdout)
    return counts


@pytest.mark.parametrize(
    "dialect", ["triton-3.0-cuda", "triton-3.3-hip", "triton-3.6-hip", "triton-3.7-hip", "triton-3.9-cuda"]
)
def test_most_cases_are_judged_natively(dialect: str, tmp_path: Path) -> None:
    counts = counted(dialect, str(tmp_path))
    assert counts["judged"] < 0.2 * 600
    assert counts["launches"] + counts["wanted"] > 0.5 * 600
    assert (counts["halves"] > 0.4 * 600) == (dialect < "triton-3.4")


def test_launcher_that_does_nothing_is_not_alike_in_the_native_dialects(tmp_path: Path) -> None:
    counts = counted("triton-3.9-cuda", str(tmp_path), "idle")
    assert counts["launches"] == counts["rejections"] == 0
    assert counts["nothing"] < 0.02 * 600  # empty grids without hooks or tensors
    assert counts["judged"] + counts["nothing"] == 600


@pytest.mark.parametrize("dialect", ["triton-3.6-cuda", "triton-3.9-cuda"])
def test_launcher_that_raises_something_else_is_not_alike(dialect: str, tmp_path: Path) -> None:
    counts = counted(dialect, str(tmp_path), "otherwise")
    assert counts["rejections"] == 0
    assert counts["launches"] > 0.3 * 600


def test_difference_that_a_case_does_not_show_alone_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_duels(duels: list[Duel], workers: pool.Workers, jobs: int) -> Any:
        from collections import Counter

        yield (
            tuple(duels),
            DuelResult(Counter(launches=17), Counter(), [(0, 3, ""), (0, 5, "event 0: missing"), (0, 6, "")]),
        )

    monkeypatch.setattr(pool, "run_duels", run_duels)
    tally = diff(CUDA, [("i32",)], cases=20, seed=1)
    case = Source(CUDA, ("i32",), 1).case(5)
    assert [(fault.case, fault.difference) for fault in tally.faults] == [
        (case, "event 0: missing (after other cases; not alone)")
    ]
    assert tally.cases == 20


def test_difference_that_is_shown_alone_is_one_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally(CUDA)
    case = Source(CUDA, ("i32",), 1).case(0)
    shown = Fault(case, {"events": []}, {"events": []}, "shown", ())

    def judge(again: Tally, cases: Any, run_cases: Any) -> None:
        again.faults += [shown for _ in cases]

    monkeypatch.setattr(engine, "compare_cases", judge)
    engine._run_alone(tally, [(case, "found")], lambda *_: [])
    assert tally.faults == [shown]
