"""Cases in volume, in a worker process: drawn, run by both launchers, and compared, in native code.

A forked child runs duels. Cases that no entry of the divergence list can hold for, and in which both launchers did the
same, are counted where they ran; all others are judged exactly, in the same child. What has been counted lies in memory
shared with the worker, so that a child's death costs the case it was in: the next child goes on behind it. The worker
answers with the numbers of the cases that must be run alone: in which a child died, or a difference was found; and of
the first case of each entry of the list.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from relaunch.differential import _native
from relaunch.differential.arguments import descriptor_type, has_tensor_map_type, named_tuple
from relaunch.differential.case import Case
from relaunch.differential.compare import VERDICTS, difference, verdict
from relaunch.differential.divergence import Divergence, divergences, expected_of, possible
from relaunch.differential.foretold import model
from relaunch.differential.launching import LAUNCH_METADATA, REFUSALS, Runner, names_before_metadata
from relaunch.differential.outcome import Outcome, describe
from relaunch.differential.predicted import predicted
from relaunch.differential.sampler import Source, halves, rewritten
from relaunch.differential.situation import Situation
from relaunch.differential.tasks import Duel, Duels, Task

from relaunch import generator

SLICE = 4096  # cases that native code runs at a time: what `open` of its Progress holds

# Words of the shared memory: first those of native/duel.hpp's Progress, behind it those that only Python writes.
NUMBER, BEGAN, LAUNCHES, REJECTIONS, NOTHING, REWRITTEN, LEFT = range(7)
OPEN_BYTES = 56  # where the numbers of open cases begin
PLACE, JUDGED, JUDGING, DEATHS, WANTED, ENTRIES = (_native.PROGRESS_BYTES // 8 + i for i in range(6))
# Conditions under which legacy goes on with an exception pending. What CPython then does depends on how the objects
# that it meets are made: these calls are run with objects of Python classes, as recorded ones were.
PENDING = {"an fp16 value overflows", "the first refused pointer is an int out of range"}
COUNTED = dict(zip(VERDICTS, (LAUNCHES, REJECTIONS, NOTHING, DEATHS, WANTED), strict=True))


class Shared:
    """The shared memory of one batch: where the child is, and what it has counted so far."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 8 * (ENTRIES + len(divergences())))
        self.words = memoryview(self.memory).cast("Q")
        self._open = memoryview(self.memory)[OPEN_BYTES : OPEN_BYTES + 4 * SLICE].cast("I")

    def open_case(self) -> int:
        """The number of the case that is judged next."""
        return self._open[self.words[JUDGED]]

    def read(self) -> tuple[int, float]:
        """The number of the case in work, and when it began (0.0: none is in work)."""
        began: float = struct.unpack_from("<d", self.memory, 8 * BEGAN)[0]
        return self.words[NUMBER], began

    def begin(self, when: float) -> None:
        struct.pack_into("<d", self.memory, 8 * BEGAN, when)

    def skip(self) -> int | None:
        """Leaves the case in work out; its number, None where no case was in work."""
        if self.read()[1] == 0.0:
            return None
        self.begin(0.0)
        if self.words[JUDGING]:
            number = self.open_case()
            self.words[JUDGING] = 0
            self.words[JUDGED] += 1
            return number
        number = self.words[NUMBER]
        self.words[NUMBER] += 1
        return number

    def counts(self, dialect: str) -> dict[str, Any]:
        """What came of the cases of one dialect."""
        entries = {entry.id: self.words[ENTRIES + i] for i, entry in enumerate(divergences())}
        native = self.words[REWRITTEN]
        entry = rewritten(dialect)
        if entry is not None:
            entries[entry.id] += native
        return {
            **{name: self.words[word] for name, word in COUNTED.items()},
            "wanted": self.words[WANTED] + native,
            "divergences": {name: count for name, count in entries.items() if count},
        }


@dataclass(frozen=True)
class Contest:
    """One duel with its source of cases, the slots that its launchers must agree on, and the entries of the divergence
    list that its calls can meet."""

    duel: Duel
    source: Source
    sampler: _native.Sampler  # made here: what every child forked hereafter would have to work out
    slots: list[int]
    possible: tuple[Divergence, ...]
    rewrite: str | None  # the one that native code applies, if its calls can meet it

    @staticmethod
    def of(duel: Duel) -> Contest:
        source = Source(duel.dialect, duel.signature, duel.seed)
        entries = possible(duel.dialect, source.types)
        entry = rewritten(duel.dialect)
        rewrite = entry.id if entry is not None and entry in entries else None
        return Contest(duel, source, source.sampler, generator.slots(source.spec()), entries, rewrite)

    def task(self, launcher: str, case: Case) -> Task:
        return Task(
            launcher,
            case.dialect,
            case.signature,
            case.call,
            self.slots,
            constants=case.constants,
            built=self.duel.built,
        )


class Referee:
    """Runs the contests of a batch in a child, from wherever the shared memory says that the last child got."""

    def __init__(self, runner: Runner, contests: list[Contest], shared: Shared, write: Callable[[bytes], None]) -> None:
        self._runner = runner
        self._contests = contests
        self._shared = shared
        self._write = write
        self._places = {entry.id: ENTRIES + i for i, entry in enumerate(divergences())}

    def run(self) -> None:
        gc.freeze()
        gc.disable()
        words = self._shared.words
        while words[PLACE] < len(self._contests):
            contest = self._contests[words[PLACE]]
            if words[NUMBER] < contest.duel.start:
                words[NUMBER] = contest.duel.start
            self._run_contest(contest)
            words[NUMBER] = 0
            words[PLACE] += 1

    def _run_contest(self, contest: Contest) -> None:
        words = self._shared.words
        native = self._duel(contest)
        while True:
            self._judge_open(contest, native)
            if words[NUMBER] >= contest.duel.stop:
                return
            self._run_slice(contest, native)

    def _run_slice(self, contest: Contest, native: _native.Duel) -> None:
        """The next cases; one alone as long as the first that the rewrite makes different is to be known."""
        words = self._shared.words
        seeks = contest.rewrite is not None and words[REWRITTEN] == 0
        native.run(self._shared.memory, min(contest.duel.stop, words[NUMBER] + (1 if seeks else SLICE)))
        if seeks and words[REWRITTEN]:
            self._write(json.dumps({"example": [words[PLACE], words[NUMBER] - 1, contest.rewrite]}).encode())

    def _duel(self, contest: Contest) -> _native.Duel:
        runner, dialect = self._runner, contest.duel.dialect
        addresses = runner.recorder.addresses()

        def ours(call: dict[str, Any]) -> Any:
            """Our launcher for a call's options; None where each case must be judged: it differs, or does not exist."""
            try:
                launch = runner.precompiled(contest.task("precompiled", contest.source.of_call(0, call)))
            except REFUSALS:
                return None
            return launch if list(launch.__self__.slots) == contest.slots else None  # type: ignore[attr-defined]

        return _native.Duel(
            contest.sampler,
            objects(dialect, addresses["note"]),
            self._legacy(contest),
            list(names_before_metadata(dialect)),
            ours,
            LAUNCH_METADATA,
            halves(contest.source) if contest.rewrite else [],
            model(dialect, contest.source.types) if contest.duel.built is None else None,
            contest.slots,
            _native.RecorderCalls(addresses),
        )

    def _legacy(self, contest: Contest) -> Any:
        if contest.duel.built is None:
            return None
        try:
            return self._runner.generated(contest.task("generated", contest.source.case(0)))
        except (ImportError, *REFUSALS):
            return None  # every case is judged, and says why

    def _judge_open(self, contest: Contest, native: _native.Duel) -> None:
        words = self._shared.words
        while words[JUDGED] < words[LEFT]:
            words[JUDGING] = 1
            self._shared.begin(time.monotonic())
            self._judge(contest, native, self._shared.open_case())
            self._shared.begin(0.0)
            words[JUDGING] = 0
            words[JUDGED] += 1
        words[LEFT] = words[JUDGED] = 0

    def _judge(self, contest: Contest, native: _native.Duel, number: int) -> None:
        case = contest.source.case(number)
        wanted: Outcome
        ids: list[str] = []
        if contest.duel.built is None:
            wanted = predicted(case, contest.slots)
        else:
            wanted, ids = self._expected(contest, native, case)
        actual = self._outcome(contest, native, "precompiled", case)
        found = difference(wanted, actual)
        if found is not None:
            self._write(json.dumps({"alone": [self._shared.words[PLACE], number, found]}).encode())
            return
        self._shared.words[COUNTED[verdict(wanted, ids, actual)]] += 1
        for name in ids:
            if self._shared.words[self._places[name]] == 0:
                self._write(json.dumps({"example": [self._shared.words[PLACE], number, name]}).encode())
            self._shared.words[self._places[name]] += 1

    def _expected(self, contest: Contest, native: _native.Duel, case: Case) -> tuple[Outcome, list[str]]:
        situation = Situation.of(case)
        entries = tuple(entry for entry in contest.possible if entry.holds_for_call(situation))
        if any(set(entry.call) & PENDING for entry in entries):
            return expected_of(case, situation, entries, partial(self._told, contest, "generated"))
        return expected_of(case, situation, entries, partial(self._outcome, contest, native, "generated"))

    def _outcome(self, contest: Contest, native: _native.Duel, launcher: str, case: Case) -> Outcome:
        found = native.outcome(case.call, launcher == "generated")
        if found is None:  # there is no such launcher; the task says why
            return self._told(contest, launcher, case)
        events, error = found
        shown = None if error is None else describe(error)
        return {"slots": contest.slots, "events": json.loads(events), "error": shown}

    def _told(self, contest: Contest, launcher: str, case: Case) -> Outcome:
        """By the Runner, with arguments of Python's."""
        told: Outcome = json.loads(self._runner.run(contest.task(launcher, case)))
        return told


def objects(dialect: str, note: int) -> _native.Objects:
    """What builds the arguments of sampled calls, as `Arguments` does, in native code."""
    dialect = generator.base_of(dialect)
    backend = generator.facts(dialect).backend
    addressed = backend == "cuda" and not has_tensor_map_type(dialect)
    return _native.Objects(backend, note, None if addressed else descriptor_type(backend), named_tuple)


def run_duels(
    runner: Runner,
    batch: Duels,
    write: Callable[[bytes], None],
    run_in_child: Callable[[Callable[[], None], Any, float], None],
) -> None:
    """Runs a batch with as many children as it takes. `run_in_child` runs a function in a forked child until its end,
    its death, or a case that takes longer than the timeout; SystemExit where the child's own code failed."""
    contests = [Contest.of(duel) for duel in batch.duels]
    shared = Shared()
    while shared.words[PLACE] < len(contests):
        run_in_child(Referee(runner, contests, shared, write).run, shared, batch.timeout)
        place = shared.words[PLACE]  # a child may get through several duels
        if place == len(contests):
            break
        number = shared.skip()
        if number is None:
            raise SystemExit(f"a child died between cases of duel {place}, pid {os.getpid()}")
        write(json.dumps({"alone": [place, number, ""]}).encode())
    write(json.dumps(shared.counts(batch.duels[0].dialect)).encode())
