"""The divergence list: its words, where each entry holds, how entries compose, and the rendered page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential.case import DIALECTS, Case
from relaunch.differential.divergence import applicable, divergences, expected, legacy_runs, render, visible

from relaunch import generator

ROOT = Path(__file__).resolve().parents[2]
ENTER = {"hook": "enter"}
EXIT = {"hook": "exit"}
INTAKE = {"intake": "data_ptr"}


def case(dialect: str, signature: list[Any], args: list[Any], **options: Any) -> Case:
    backend = dialect.rsplit("-", 1)[1]
    call: dict[str, Any] = {
        "grid": [1, 1, 1],
        "stream": "0x0",
        "function": "0xf00",
        "metadata": [4, 1, 0],
        "cooperative": False,
        "profile_scratch": None,
        "enter": "none",
        "exit": "none",
        **({"pdl": False, "global_scratch": None} if backend == "cuda" else {"warp_size": 64}),
        "args": args,
        **options,
    }
    return Case.from_json({"id": "case", "release": "3.6.0", "backend": backend, "signature": signature, "call": call})


def cuda(signature: list[Any], args: list[Any], **options: Any) -> Case:
    return case("triton-3.6-cuda", signature, args, **options)


def hip(signature: list[Any], args: list[Any], **options: Any) -> Case:
    return case("triton-3.6-hip", signature, args, **options)


def query(backend: str, address: str) -> dict[str, Any]:
    return {"call": f"{backend}PointerGetAttribute", "args": ["3", address]}


def launch(grid: list[int]) -> dict[str, Any]:
    return {"call": "cuLaunchKernelEx", "grid": grid, "params": []}


def ran(events: list[Any], error: str | None = None, text: str = "") -> dict[str, Any]:
    return {"events": events, "error": None if error is None else {"type": error, "text": text}}


class Legacy:
    """Stands for a legacy launcher: answers by a condition on the call, and keeps the calls it was given."""

    def __init__(self, *answers: tuple[Callable[[dict[str, Any]], bool], dict[str, Any]]) -> None:
        self.answers = answers
        self.calls: list[dict[str, Any]] = []

    def __call__(self, given: Case) -> dict[str, Any]:
        call = dict(given.call)
        self.calls.append(call)
        return next(outcome for condition, outcome in self.answers if condition(call))


def otherwise(call: dict[str, Any]) -> bool:
    return True


# (case, ids that hold)
HOLDS: list[tuple[str, Case, list[str]]] = [
    ("plain", cuda(["*fp32", "i32"], [{"tensor": "0x1000"}, 1]), []),
    ("no launcher", cuda(["fp8e5"], [1], grid=[-1, 1, 1]), []),
    ("product 2^32", cuda([], [], grid=[65536, 65536, 1]), ["D01"]),
    ("product 2^32 on HIP", hip([], [], grid=[65536, 65536, 1]), ["D01"]),
    ("product wraps to a negative", cuda([], [], grid=[65536, 32768, 1]), ["D01"]),
    ("HIP launches negative products", hip([], [], grid=[65536, 32768, 1]), []),
    ("product of three wraps", cuda([], [], grid=[2**31 - 1, 2, 2]), ["D01"]),
    ("product wraps to 1", cuda([], [], grid=[2**31 - 1, 2**31 - 1, 1]), []),
    ("by __index__", cuda([], [], grid=[{"index": 65536}, {"index": 65536}, True]), ["D01"]),
    ("refused while parsing", cuda([], [], grid=[65536, 2**32, 1]), []),
    ("empty", cuda([], [], grid=[65536, 0, 65536]), []),
    ("negative", cuda([], [], grid=[-1, 1, 1]), ["D02"]),
    ("negative in z", hip([], [], grid=[1, 0, -1]), ["D02"]),
    ("negative by __index__", hip([], [], grid=[1, 1, {"index": -1}]), ["D02"]),
    ("largest grid", cuda([], [], grid=[2**31 - 1, 1, 1]), []),
    ("too large with CTAs", cuda([], [], grid=[2**31 - 1, 1, 1], metadata=[4, 2, 0]), ["D02"]),
    ("too large and wrapped", cuda([], [], grid=[65536, 65536, 1], metadata=[4, {"index": 32768}, 0]), ["D01", "D02"]),
    ("metadata refused", cuda([], [], grid=[2**31 - 1, 1, 1], metadata={"list": [4, 2, 0]}), []),
    ("one CTA on HIP", hip([], [], grid=[2**31 - 1, 1, 1], metadata=[4, 1, 0]), []),
    ("i8 -128", cuda(["i8"], [-128]), ["D03"]),
    ("i8 -129", cuda(["i8"], [-129]), []),
    ("i8 127", cuda(["i8"], [127]), []),
    ("i8 128", hip(["i8"], [128]), ["D03"]),
    ("i8 256", hip(["i8"], [256]), []),
    ("i8 by __index__, in a tuple", hip([["i32", ["i8"]]], [{"list": [1, {"tuple": [{"index": -1}]}]}]), ["D03"]),
    ("i8 in a tuple of the wrong length", hip([["i8"]], [{"tuple": [-1, 2]}]), []),
    ("i8 in a wrong count", hip(["i8"], [-1, 2]), []),
    ("i8 as float", hip(["i8"], [{"float": "-0x1.0p+0"}]), []),
    ("i1 -1", cuda(["i1"], [-1]), []),
    ("fp16 65519.9", cuda(["fp16"], [{"float": (65519.9).hex()}]), []),
    ("fp16 65520", cuda(["fp16"], [{"float": "0x1.ffep+15"}]), ["D04"]),
    ("fp16 -65520 as int", hip(["fp16"], [-65520]), ["D04"]),
    ("fp16 by __float__", hip([["fp16"]], [{"tuple": [{"floatlike": "0x1p+16"}]}]), ["D04"]),
    ("fp16 inf", hip(["fp16"], [{"float": "inf"}]), []),
    ("fp16 past double", hip(["fp16"], [10**309]), []),
    ("fp16 overflow, grid refused", hip(["fp16"], [65520], grid=[2**31, 1, 1]), []),
    ("bf16 1e39", cuda(["bf16"], [{"float": (1e39).hex()}]), []),
    ("int pointer -1", cuda(["*i8"], [-1]), ["D05"]),
    ("int pointer 2^64", hip([["*i8"]], [{"tuple": [2**64]}]), ["D05"]),
    ("int pointer 2^64 - 1", hip(["*i8"], [2**64 - 1]), []),
    ("scratch -1", cuda([], [], global_scratch=-1), ["D05"]),
    ("global scratch does not exist on HIP", hip([], [], global_scratch=-1), []),
    ("profile scratch raises first", hip(["*i8"], [-1], profile_scratch={"tensor_raises": "KeyError"}), ["D06"]),
    ("refused earlier", cuda(["*i8", "*i8"], [{"object": 1}, -1]), []),
    ("refused earlier on HIP", hip(["*i8", "*i8"], [{"object": 1}, -1]), []),
    ("raises", cuda(["*i8", "*i8"], [{"tensor_raises": "KeyError"}, -1]), ["D06"]),
    ("returns no int", hip(["*i8", "*i8"], [{"tensor_returns": None}, -1]), []),
    ("a float", hip(["*i8"], [{"float": "nan"}]), []),
    ("a letter of a string", hip([["constexpr", "*i8"]], [{"str": "ab"}]), []),
    ("DLPack in a tuple", hip([["*i8"]], [{"list": [{"dlpack": "0x1000"}]}]), ["D12"]),
    ("DLPack scratch", cuda([], [], global_scratch={"dlpack": "0x0"}), ["D12"]),
    ("DLPack for an int", cuda(["i32"], [{"dlpack": "0x1000"}]), []),
    ("16 CTAs refused", cuda([], [], metadata=[4, 16, 0], fail=["cuFuncSetAttribute", 0, 2]), ["D08"]),
    ("8 CTAs", cuda([], [], metadata=[4, 8, 0], fail=["cuFuncSetAttribute", 0, 2]), []),
    ("second attribute call", cuda([], [], metadata=[4, 16, 0], fail=["cuFuncSetAttribute", 1, 2]), []),
    ("no context to get", cuda([], [], no_context=True, fail=["cuDevicePrimaryCtxRetain", 0, 2]), ["D09"]),
    ("has a context", cuda([], [], fail=["cuDevicePrimaryCtxRetain", 0, 2]), []),
    ("cannot ask for it", cuda([], [], fail=["cuCtxGetCurrent", 0, 2]), ["D09"]),
    ("launch fails", hip([], [], exit="ok", fail=["hipModuleLaunchKernel", 0, 2]), ["D10"]),
    ("launch fails, no hook", hip([], [], fail=["hipModuleLaunchKernel", 0, 2]), []),
    ("another launch fails", hip([], [], exit="ok", fail=["hipDrvLaunchKernelEx", 0, 2]), []),
    ("cluster launch fails", hip([], [], exit="ok", metadata=[4, 2, 0], fail=["hipDrvLaunchKernelEx", 0, 2]), ["D10"]),
    (
        "cooperative launch fails",
        hip([], [], exit="raise", cooperative=True, fail=["hipModuleLaunchCooperativeKernel", 0, 2]),
        ["D10"],
    ),
    ("no launch to fail", hip([], [], exit="ok", grid=[1, 0, 1], fail=["hipModuleLaunchKernel", 0, 2]), []),
    ("query says 700", hip(["*i8"], [{"tensor": "0x5e0000000010"}]), ["D11"]),
    ("query told 700", hip(["*i8"], [{"tensor": "0x10"}], fail=["hipPointerGetAttribute", 0, 700]), ["D11"]),
    ("query told invalid", hip(["*i8"], [{"tensor": "0x10"}], fail=["hipPointerGetAttribute", 0, 1]), []),
    ("query says 700 on CUDA", cuda(["*i8"], [{"tensor": "0x5e0000000010"}]), []),
    ("three at once", hip(["i8", "fp16", "*i8"], [-1, {"float": (1e5).hex()}, -1]), ["D03", "D04", "D05"]),
]


@pytest.mark.parametrize(("given", "ids"), [entry[1:] for entry in HOLDS], ids=[entry[0] for entry in HOLDS])
def test_where_entries_hold(given: Case, ids: list[str]) -> None:
    assert applicable(given) == ids


def test_no_divergence_is_one_run() -> None:
    given = cuda(["i32"], [7])
    outcome = ran([launch([1, 1, 1])])
    legacy = Legacy((otherwise, outcome))
    assert expected(given, legacy) == (outcome, [])
    assert legacy.calls == [given.call]
    assert legacy_runs(given) == [given]


def test_wrapped_grid_is_put_into_the_launch() -> None:
    given = cuda([], [], grid=[65536, 65536, 1], metadata=[4, 16, 0])
    legacy = Legacy((lambda call: call["grid"] == [1, 1, 1], ran([launch([16, 1, 1]), EXIT])), (otherwise, ran([EXIT])))
    assert expected(given, legacy) == (ran([launch([2**20, 65536, 1]), EXIT]), ["D01"])


def test_bad_grid_stops_before_the_enter_hook_once_all_is_parsed() -> None:
    given = cuda(["i32"], [1], grid=[1, -1, 1], enter="ok")
    parsed = Legacy(
        (lambda call: call["enter"] == "raise", ran([ENTER], "RuntimeError", "enter hook failed")),
        (otherwise, ran([ENTER, launch([1, 2**32 - 1, 1])])),
    )
    assert expected(given, parsed) == ({"events": [], "error": {"type": "ValueError"}}, ["D02"])
    assert parsed.calls[0]["grid"] == [1, 1, 1]

    refused = ran([], "OverflowError", "signed integer is greater than maximum")
    assert expected(given, Legacy((otherwise, refused))) == (refused, [])


def test_i8_values_are_moved_to_where_legacy_takes_or_refuses_them() -> None:
    given = cuda(["i8", ["i8", "i8"]], [-5, {"tuple": [{"index": 200}, 5]}])
    legacy = Legacy((otherwise, ran([])))
    expected(given, legacy)
    assert legacy.calls[0]["args"] == [251, {"tuple": [{"index": 300}, 5]}]
    assert given.call["args"] == [-5, {"tuple": [{"index": 200}, 5]}]


@pytest.mark.parametrize(
    ("argument", "error"), [(-1, "OverflowError"), ({"tensor_raises": "KeyboardInterrupt"}, "KeyboardInterrupt")]
)
def test_refused_pointer_ends_the_launch_at_its_turn(argument: Any, error: str) -> None:
    given = cuda([["i32", "*i8"], "*i8"], [{"list": [1, argument]}, {"tensor": "0x20"}], enter="ok")
    stand_in = {"tensor_returns": {"str": "x"}}
    text = "data_ptr method of Pointer object must return 64-bit int"
    legacy = Legacy(
        (lambda call: call["args"][0]["list"][1] == stand_in, ran([ENTER, INTAKE], "TypeError", text)),
        (otherwise, ran([ENTER, INTAKE, query("cu", "20"), launch([1, 1, 1])], "OverflowError", "int too big")),
    )
    outcome, ids = expected(given, legacy)
    assert outcome == {"events": [ENTER], "error": {"type": error}}
    assert ids == applicable(given)


def test_refused_pointer_that_is_never_reached_changes_nothing() -> None:
    given = cuda(["*i8", "*i8"], [{"tensor": "0xba0000000010"}, -1])
    stopped = ran([INTAKE, query("cu", "ba0000000010")], "ValueError", "Pointer argument (at 0) cannot be accessed")
    assert expected(given, Legacy((otherwise, stopped))) == (stopped, [])


def test_overflow_beside_a_wrapped_grid_counts_alone() -> None:
    given = cuda(["fp16"], [{"float": (1e6).hex()}], grid=[65536, 65536, 1])
    overflow = ("OverflowError", "float too large to pack with e format")
    legacy = Legacy(
        (lambda call: 0 in call["grid"], ran([], *overflow)),
        (lambda call: call["grid"] == [1, 1, 1], ran([launch([1, 1, 1])], *overflow)),
        (otherwise, ran([], *overflow)),
    )
    outcome, ids = expected(given, legacy)
    assert visible(outcome) == {"events": [], "error": {"type": "OverflowError"}}
    assert ids == ["D04"]


def test_failing_context_call_is_the_last_event() -> None:
    retain = {"call": "cuDevicePrimaryCtxRetain", "args": ["0"]}
    current = {"call": "cuCtxSetCurrent", "args": ["c1"]}
    arity = ran([retain, current], "TypeError", "function takes exactly 12 arguments (13 given)")
    for function, events in (
        ("cuCtxGetCurrent", []),
        ("cuDeviceGet", []),
        ("cuDevicePrimaryCtxRetain", [retain]),
        ("cuCtxSetCurrent", [retain, current]),
    ):
        given = cuda(["i8"], [-1], grid=[-1, 1, 1], no_context=True, fail=[function, 0, 2])
        legacy = Legacy((lambda call: "fail" not in call, arity), (otherwise, {"crash": True}))
        outcome, _ = expected(given, legacy)
        assert outcome == {"events": events, "error": {"type": "RuntimeError"}}
        assert len(legacy.calls[0]["args"]) == 2


def test_failed_query_is_restored() -> None:
    given = hip(["*i8", "*i8", "*i8"], [{"tensor": f"0x{address}"} for address in ("10", "5e0000000020", "30")])
    last_error = {"call": "hipGetLastError", "args": []}
    stand_in = "ba0000005e00"
    legacy = Legacy(
        (
            lambda call: call["args"][1] == {"tensor": f"0x{stand_in}"},
            ran([INTAKE, query("hip", "10"), INTAKE, query("hip", stand_in), last_error], "ValueError", "Pointer"),
        ),
        (otherwise, ran([INTAKE, launch([1, 1, 1])])),
    )
    assert expected(given, legacy) == (
        {
            "events": [INTAKE, query("hip", "10"), INTAKE, query("hip", "5e0000000020")],
            "error": {"type": "RuntimeError"},
        },
        ["D11"],
    )


def test_query_told_to_find_nothing_stays_a_value_error() -> None:
    given = hip(["*i8"], [{"tensor": "0x5e0000000020"}], fail=["hipPointerGetAttribute", 0, 1])
    last_error = {"call": "hipGetLastError", "args": []}

    def stopped(address: str) -> dict[str, Any]:
        return ran([INTAKE, query("hip", address), last_error], "ValueError", "Pointer")

    legacy = Legacy(
        (lambda call: call["args"] == [{"tensor": "0x5e0000000020"}], stopped("5e0000000020")),
        (otherwise, stopped("ba0000005e00")),
    )
    assert expected(given, legacy) == (stopped("5e0000000020"), [])


def test_failing_query_that_is_never_made_changes_nothing() -> None:
    given = hip(["*i8"], [{"tensor": "0xba0000000010"}], fail=["hipPointerGetAttribute", 1, 700])
    stopped = ran([INTAKE, query("hip", "ba0000000010"), {"call": "hipGetLastError", "args": []}], "ValueError")
    legacy = Legacy((otherwise, stopped))
    assert expected(given, legacy) == (stopped, [])
    assert legacy.calls[0]["fail"] == ["hipPointerGetAttribute", 1, 1]


def test_death_of_legacy_is_passed_on() -> None:
    given = hip(["*i8"], [-1])
    assert expected(given, Legacy((otherwise, {"crash": True}))) == ({"crash": True}, [])


def test_every_run_is_announced() -> None:
    given = hip(["i8", "fp16", "*i8"], [-1, {"float": (1e5).hex()}, -1], grid=[-1, 1, 1], exit="ok")
    announced = [run.call for run in legacy_runs(given)]
    legacy = Legacy((otherwise, ran([])))
    expected(given, legacy)
    assert all(call in announced for call in legacy.calls)


def test_list_is_sound() -> None:
    entries = divergences()
    assert len({entry.id for entry in entries}) == len({entry.title for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.dialects
        assert set(entry.dialects) <= set(DIALECTS)
        assert entry.reason.endswith(".")
        native = set(entry.dialects) - set(generator.dialects())
        assert not native or not entry.rewrite_call, "there is no launcher to run with another call"
        assert entry.rewrite_call or entry.rewrite_outcome


def test_page_is_rendered_from_the_list() -> None:
    page = ROOT / "docs" / "divergences.md"
    assert page.read_text("utf-8") == render(), (
        "docs/divergences.md is not what the list renders to; accept the change with "
        "`python -m relaunch.differential.divergence > docs/divergences.md`"
    )


def test_a_call_told_to_succeed_is_no_failure() -> None:
    for function in ("cuCtxGetCurrent", "cuFuncSetAttribute"):
        told = cuda(["*fp32"], [{"tensor": "0x10"}], metadata=[4, 16, 0], fail=[function, 0, 0])
        assert applicable(told) == []
        assert applicable(cuda(["*fp32"], [{"tensor": "0x10"}], metadata=[4, 16, 0], fail=[function, 0, 2])) != []


def test_what_a_call_may_leave_out() -> None:
    """Metadata and hooks that a case does not name are null and none."""
    call = {"grid": [-1, 1, 1], "args": [300]}
    bare = {"id": "bare", "release": "3.6.0", "backend": "cuda", "signature": ["i8"], "call": call}
    assert applicable(Case.from_json(bare)) == []
    assert applicable(Case.from_json({**bare, "call": {**call, "fail": ["cuLaunchKernelEx", 0, 2]}})) == []
