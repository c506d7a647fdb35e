"""A launch or a binding in which a driver call fails keeps no reference and no block, in every dialect."""

from __future__ import annotations

import gc
import itertools
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from relaunch.differential.case import Case
from relaunch.differential.injection import STATUSES, clean_calls
from relaunch.differential.recorder import Recorder

import relaunch
from relaunch import generator

TURNS = 100
SIGNATURE = ("*fp32", "i64", "*fp32", "*i8")
FLAGS = ("cooperative", "pdl")

pytestmark = pytest.mark.usefixtures("only_new_objects")


class Tensor:
    def __init__(self, address: int) -> None:
        self.address = address

    def data_ptr(self) -> int:
        return self.address


class Call:
    """A launch of a case, or a binding: something to be done with any driver call failing."""

    def __init__(self, recorder: Recorder, run: Callable[[], Any], objects: list[Any], no_context: bool) -> None:
        self.recorder, self.run, self.objects, self.no_context = recorder, run, objects, no_context

    def calls(self) -> list[str]:
        """The driver calls of a run without a failure."""
        self.recorder.reset()
        if self.no_context:
            self.recorder.no_context()
        self.recorder.list_calls()
        self.run()
        return self.recorder.calls()

    def fails(self, function: str, nth: int, status: int) -> bool:
        """Whether the run raises. The recorder records nothing."""
        self.recorder.reset()
        self.recorder.record(False)
        if self.no_context:
            self.recorder.no_context()
        self.recorder.fail(function, nth, status)
        try:
            self.run()
        except (RuntimeError, ValueError):
            return True
        return False

    def kept(self, function: str, nth: int, status: int) -> str:
        """What is kept of such runs; empty where nothing is."""
        for _ in range(TURNS):
            self.fails(function, nth, status)
        gc.collect()
        before, blocks = [sys.getrefcount(one) for one in self.objects], sys.getallocatedblocks()
        for _ in range(TURNS):
            self.fails(function, nth, status)
        gc.collect()
        grown = sys.getallocatedblocks() - blocks
        after = [sys.getrefcount(one) for one in self.objects]
        return f"{grown} blocks, references {before} became {after}" if grown >= TURNS or after != before else ""


def launch_of(case: Case, recorder: Recorder) -> Call:
    """The case's launch, its objects made once."""
    call, found = case.call, generator.facts("triton-3.6-" + case.backend)
    given: dict[str, Any] = {name: call[name] for name in (*FLAGS, "warp_size") if name in call}
    scratch: dict[str, Any] = {name: Tensor(int(call[name]["tensor"], 16)) for name in found.scratch if name in call}
    launcher = relaunch.Launcher(
        ", ".join(SIGNATURE), dialect=case.dialect, function=1, driver=str(recorder.path), **given, **scratch
    )
    args = [Tensor(0x700000001000), 2**40, Tensor(0x910000001000), None]
    hook, metadata, asked = (lambda _: None), tuple(call["metadata"]), {"a": 1}
    fixed = (*call["grid"], 2**41, 2**42, metadata, asked, hook, hook)
    objects = [launcher, hook, metadata, asked, *args[:3], *scratch.values()]
    return Call(recorder, lambda: launcher.launch(*fixed, *args), objects, bool(call.get("no_context")))


def bindings(dialect: str, recorder: Recorder) -> Iterator[Call]:
    """Bindings that ask the driver for something."""
    tree = relaunch.parse("*fp32, i32")
    many = relaunch.parse(", ".join(["i32"] * 1030))
    given: Any
    for given, no_context in (
        ((tree, {"shared": 60_000}), False),
        ((tree, {"shared": 60_000}), True),
        ((many, {}), False),
    ):
        options = {"dialect": dialect, "driver": str(recorder.path), "function": 2**40, **given[1]}
        bind = partial(relaunch.Launcher, given[0], **options)
        yield Call(recorder, bind, [given[0]], no_context)


def all_kept(calls: Iterator[Call]) -> tuple[list[str], int]:
    """What was kept, with the call that failed, and how many failing calls raised."""
    seen: set[str] = set()
    kept: list[str] = []
    raised = 0
    for call in calls:
        made = call.calls()
        key = json.dumps(made)
        if key in seen:
            continue
        seen.add(key)
        for function, count in Counter(made).items():
            for nth, status in itertools.product(range(count), STATUSES[::4]):
                raised += call.fails(function, nth, status)
                if found := call.kept(function, nth, status):
                    kept.append(f"{function} {nth} {status}: {found}")
    return kept, raised


@pytest.mark.parametrize("dialect", relaunch.DIALECTS)
def test_launches_whose_driver_calls_fail_keep_nothing(dialect: str) -> None:
    recorder = Recorder(dialect.rpartition("-")[2])
    kept, raised = all_kept(launch_of(case, recorder) for case in clean_calls(dialect, SIGNATURE, []))
    assert kept == []
    assert raised >= 4  # the launch by each function, with both statuses


@pytest.mark.parametrize("dialect", relaunch.DIALECTS)
def test_bindings_whose_driver_calls_fail_keep_nothing(dialect: str) -> None:
    kept, raised = all_kept(bindings(dialect, Recorder(dialect.rpartition("-")[2])))
    assert kept == []
    assert raised >= (6 if dialect.endswith("cuda") else 0)
