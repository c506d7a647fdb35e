"""Runs scenarios with memory refused at every call of the allocator in turn, each in a forked process.

    python trial.py '["FOLDER", "binding", "triton-3.6-cuda"]'

prints one JSON object for each scenario: how many calls of the allocator there were, how often each outcome came, and
what is wrong. A process that dies is a fault of its scenario.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

folder, kind, dialect = json.loads(sys.argv[1])
sys.path[:0] = [folder, str(Path(__file__).parent)]

import refusing  # type: ignore[import-not-found] # noqa: E402
import scenarios  # noqa: E402

import relaunch  # noqa: E402

SOURCES = {"C": 1, "Python": 2}
NEVER = 10**9
MOST = 3000  # calls of the allocator that a scenario may make
ROUNDS = 20
WINDOWS = 40  # of as many calls: caches are full before
Outcome = tuple[str, Any]


class Trial:
    """One scenario in a process of its own, with memory refused from one source."""

    def __init__(self, scenario: scenarios.Scenario, source: str, lasting: bool) -> None:
        self.scenario, self.source, self.lasting = scenario, source, lasting

    def attempt(self, nth: int, recording: bool) -> Outcome:
        """What comes of the call: ("gives", what is seen) or ("raises", [type, text]), and the driver's events."""
        scenario = self.scenario
        scenario.prepare()
        if scenario.recorder is not None:
            scenario.recorder.record(recording)
        try:
            result = refusing.call(
                SOURCES[self.source], nth, self.lasting, scenario.function, scenario.args, scenario.kwargs
            )
            outcome: Outcome = ("gives", scenario.seen(result))
        except BaseException as error:  # noqa: BLE001 - it is the outcome
            outcome = ("raises", [type(error).__name__, str(error)])
        events = scenario.recorder.events() if scenario.recorder is not None and recording else []
        return (outcome[0], [outcome[1], events])

    def clean(self) -> Outcome:
        return self.attempt(NEVER, True)

    def once(self, nth: int, wanted: Outcome) -> dict[str, Any]:
        """The call with its nth request for memory refused; `done` where there were fewer."""
        recording = self.source == "Python"  # the recorder's own memory is the C library's
        got = self.attempt(nth, recording)
        refused = refusing.refused()
        found: dict[str, Any] = {"done": refused == 0, "faults": []}
        faults: list[str] = found["faults"]
        if refused == 0:
            return found
        refusal = got[0] == "raises" and self.is_refusal(*got[1][0])
        found["outcome"] = "MemoryError" if refusal else "as ever"
        if not refusal and (got[0], got[1][0]) != (wanted[0], wanted[1][0]):
            faults.append(f"{got[0]} {got[1][0]}")
        if got[1][1] != wanted[1][1][: len(got[1][1])]:
            faults.append(f"other calls of the driver: {got[1][1]}")
        if (again := self.clean()) != wanted:
            faults.append(f"afterwards it {again[0]} {again[1]}")
        if not self.lasting:
            faults += self.leaks(nth, recording)
        return found

    def is_refusal(self, name: str, text: str) -> bool:
        return name == "MemoryError" or text.startswith(self.scenario.refusal)

    def leaks(self, nth: int, recording: bool) -> list[str]:
        """Blocks and references that refused calls do not give back, however often they are made."""
        objects = [*self.scenario.args, *self.scenario.kwargs.values(), self.scenario.function]
        everywhere = [one is None or (isinstance(one, int) and -5 <= one <= 256) for one in objects]
        self.repeat(nth, recording)
        for _ in range(WINDOWS):
            references, blocks = [sys.getrefcount(one) for one in objects], refusing.blocks()
            self.repeat(nth, recording)
            grown = [after - before for before, after in zip(blocks, refusing.blocks(), strict=True)]
            more = [sys.getrefcount(one) - before for one, before in zip(objects, references, strict=True)]
            kept = [type(one).__name__ for one, n, shared in zip(objects, more, everywhere, strict=True)
                    if n >= ROUNDS and not shared]  # fmt: skip
            if max(grown) < ROUNDS and not kept:
                return []
        told = [f"keeps references: {kept}"] if kept else []
        return [*told, *[f"keeps blocks, of Python and of all: {grown} in {ROUNDS} calls"] * (max(grown) >= ROUNDS)]

    def repeat(self, nth: int, recording: bool) -> None:
        for _ in range(ROUNDS):
            self.attempt(nth, recording)
        self.scenario.prepare()  # forgets what the recorder keeps
        gc.collect()


def in_a_fork(function: Callable[[], Any]) -> tuple[Any, str | None]:
    """What the function gives, as JSON has it, in a process of its own; or how that process died."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            answer = json.dumps(function())
        except BaseException:  # noqa: BLE001 - it is told and ends the process
            traceback.print_exc()
            os._exit(1)
        with os.fdopen(writing, "w") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        text = answers.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return None, f"died of {signal.Signals(os.WTERMSIG(status)).name}"
    if status != 0:
        return None, f"ended with {os.waitstatus_to_exitcode(status)}"
    return json.loads(text), None


def tried(make: Callable[[], scenarios.Scenario], source: str, lasting: bool) -> dict[str, Any]:
    """The scenario at every call of the allocator."""
    trial = Trial(make(), source, lasting)
    lost = trial.scenario.bound if source == "C" else 0
    clean, death = in_a_fork(lambda: [trial.clean(), trial.clean()])
    if death is not None or clean is None or clean[0] != clean[1]:
        return {"calls": 0, "outcomes": {}, "faults": [f"without a refusal: {death or clean}"]}
    wanted: Outcome = (clean[1][0], clean[1][1])
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    for nth in range(MOST):
        found, death = in_a_fork(partial(trial.once, nth, wanted))
        if death is not None:
            faults.append(f"call {nth}: {death}")
            outcomes[death] += 1
            continue
        if lost and found["faults"] and all(fault.startswith("keeps blocks") for fault in found["faults"]):
            lost -= 1
            found["faults"] = []
        faults += [f"call {nth}: {fault}" for fault in found["faults"]]
        if found["done"]:
            return {"calls": nth, "outcomes": outcomes, "faults": faults}
        outcomes[found.get("outcome", "fault")] += 1
    return {"calls": MOST, "outcomes": outcomes, "faults": [*faults, f"more than {MOST} calls"]}


def warm_up() -> None:
    """The C library ends a process that has no memory for what a loaded library keeps by thread, at its first use:
    exceptions of C++, the recorder's device."""
    with contextlib.suppress(relaunch.SignatureError):
        relaunch.Plan("fp7", dialect=dialect)
    made = scenarios.Bound(dialect)
    for warm in (
        made.launching("*i8", scenarios.tensor(scenarios.ADDRESS), fail=(made.launch_call, 700)),
        made.launching("*i8", scenarios.tensor(scenarios.ELSEWHERE)),
    ):
        warm.prepare()
        with contextlib.suppress(RuntimeError, ValueError):
            warm.function(*warm.args)


def main() -> None:
    warm_up()
    gc.collect()
    gc.freeze()  # a collection looks at what a trial makes, and at nothing else
    gc.disable()
    made = scenarios.Bound(dialect)
    for name, make in scenarios.KINDS[kind](made).items():
        for source in make().sources:
            for lasting in (False, True):
                told = {"scenario": name, "source": source, "lasting": lasting}
                print(json.dumps({**told, **tried(make, source, lasting)}), flush=True)


if __name__ == "__main__":
    main()
