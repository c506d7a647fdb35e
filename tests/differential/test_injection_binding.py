"""Every driver call of a binding fails once, at each of its occurrences, with several statuses, in every dialect.

There is a clear error or a launcher as ever, and the same binding works right after.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from relaunch.differential.injection import STATUSES
from relaunch.differential.recorder import Recorder

import relaunch

# Asked for what makes a check better: where the driver does not say, it decides later, by itself.
DISPENSABLE = ("cuFuncGetAttribute", "cuFuncGetParamInfo", "cuDriverGetVersion")
CONTEXT = ("cuCtxGetCurrent", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent")
LAST_PARAMETER = 1  # the status by which cuFuncGetParamInfo says that there are no more


@dataclass
class Binding:
    signature: str
    options: dict[str, Any] = field(default_factory=dict)
    no_context: bool = False
    version: int = 0  # of the driver, 0: the newest

    def prepare(self, recorder: Recorder) -> None:
        recorder.reset()
        recorder.list_calls()
        recorder.driver_version(self.version)
        if self.no_context:
            recorder.no_context()

    def bind(self, recorder: Recorder, dialect: str) -> relaunch.Launcher:
        return relaunch.Launcher(
            self.signature, dialect=dialect, driver=str(recorder.path), function=0xF00, name="add", **self.options
        )


BINDINGS = [
    Binding("*fp32, i32"),
    Binding("*fp32, i32", {"shared": 1}),
    Binding("*fp32, i32", {"shared": 60_000}),
    Binding("*fp32, i32", {"shared": 60_000}, no_context=True),
    Binding("*fp32, i32", {"shared": 60_000, "num_ctas": 16}),
    Binding(", ".join(["i32"] * 1500)),
    Binding(", ".join(["i32"] * 1500), version=12010),
]


def failures(recorder: Recorder, dialect: str) -> Iterator[tuple[Binding, str, int, int]]:
    """Each binding with each of its driver calls, the occurrence and the status with which it fails."""
    for binding in BINDINGS:
        binding.prepare(recorder)
        binding.bind(recorder, dialect)
        for function, count in Counter(recorder.calls()).items():
            for nth, status in itertools.product(range(count), STATUSES):
                yield binding, function, nth, status


@pytest.mark.parametrize("dialect", [one for one in relaunch.DIALECTS if one.endswith("cuda")])
def test_every_driver_call_of_a_binding_fails_once(dialect: str) -> None:
    recorder = Recorder("cuda")
    outcomes: Counter[tuple[str, bool]] = Counter()
    for binding, function, nth, status in failures(recorder, dialect):
        if function == "cuFuncGetParamInfo" and status == LAST_PARAMETER:
            continue
        binding.prepare(recorder)
        recorder.fail(function, nth, status)
        where = (binding, function, nth, status)
        found = refusal(binding, recorder, dialect)
        if found is not None:
            assert function in ("cuFuncSetAttribute", *CONTEXT), where
            words = f"{'invalid argument' if status == 1 else f'error {status}'} ({status} from {function})"
            assert found == f"shared={binding.options['shared']} of add is refused by the driver: {words}", where
        else:
            assert function in DISPENSABLE, where
        outcomes[function, found is not None] += 1
        check_usable(recorder, dialect, binding)
    refused = {function for function, is_refused in outcomes if is_refused}
    assert refused == {"cuFuncSetAttribute", *CONTEXT}
    assert {function for function, is_refused in outcomes if not is_refused} <= set(DISPENSABLE)
    assert outcomes["cuDriverGetVersion", False] >= len(STATUSES)
    assert outcomes["cuFuncGetAttribute", False] >= len(STATUSES)


def refusal(binding: Binding, recorder: Recorder, dialect: str) -> str | None:
    """The text of the BindError that there is."""
    try:
        binding.bind(recorder, dialect)
    except relaunch.BindError as error:
        return str(error)
    return None


def check_usable(recorder: Recorder, dialect: str, binding: Binding) -> None:
    """The same binding makes a launcher that launches."""
    binding.prepare(recorder)
    launcher = binding.bind(recorder, dialect)
    recorder.set_slots(launcher.slots)
    launcher(1, 1, 1, 0, *[7] * len(launcher.tree))
    assert [event["shared"] for event in recorder.events() if "params" in event] == [binding.options.get("shared", 0)]


@pytest.mark.parametrize("dialect", [one for one in relaunch.DIALECTS if one.endswith("hip")])
def test_a_binding_calls_nothing_of_hip(dialect: str) -> None:
    assert list(failures(Recorder("hip"), dialect)) == []


@pytest.mark.parametrize("status", STATUSES)
def test_an_old_driver_that_does_not_say_its_version_decides_at_the_launch(status: int) -> None:
    recorder = Recorder("cuda")
    binding = Binding(", ".join(["i32"] * 1500), version=12000)
    binding.prepare(recorder)
    with pytest.raises(relaunch.BindError, match=re.escape("the driver, of CUDA 12.0, takes 4096")):
        binding.bind(recorder, "triton-3.6-cuda")
    recorder.fail("cuDriverGetVersion", 0, status)
    launcher = binding.bind(recorder, "triton-3.6-cuda")
    recorder.fail("cuLaunchKernelEx", 0, 1)
    with pytest.raises(RuntimeError, match="invalid argument"):
        launcher(1, 1, 1, 0, *[7] * 1500)
