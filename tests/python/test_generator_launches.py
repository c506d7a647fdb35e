"""Generated launchers of every dialect: signatures of 400 arguments, tuples nested five deep, an overflow at a hook."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pytest
from relaunch.differential import outcome, pool
from relaunch.differential.case import Case

from relaunch import generator

LONG = ("*fp32", "i64", "i32", "fp64") * 100
DEEP = ("i32", ("*fp32", ("i8", ("u16", ("constexpr", ("fp64", "i64"), ()))), "u32"))


def case(dialect: str, signature: Sequence[Any], args: Sequence[Any]) -> Case:
    found = generator.facts(dialect)
    call: dict[str, Any] = {
        "grid": [2, 3, 4],
        "stream": "0x2",
        "function": "0xf00",
        "metadata": [4, 1, 0, 1, 1, 1][: len(found.metadata.elements)],
        "args": list(args),
        "cooperative": False,
        "pdl": False,
        "global_scratch": None,
        "profile_scratch": None,
        "enter": "ok",
        "exit": "ok",
    }
    return Case("one", found.recorded, found.backend, tuple(signature), call)


def launched(dialect: str, signature: Sequence[Any], args: Sequence[Any]) -> list[bytes]:
    """The parameters of the one launch, hidden ones apart, which are null."""
    (result,) = pool.run_cases([case(dialect, signature, args)], "generated")
    assert result.get("error", "no answer") is None, result
    (launch,) = outcome.launches(result)
    assert launch["grid"] == [2, 3, 4]
    params = [bytes.fromhex(text) for text in launch["params"]]
    hidden = len(generator.facts(dialect).hidden)
    assert params[len(params) - hidden :] == [bytes(8)] * hidden
    return params[: len(params) - hidden]


@pytest.mark.parametrize("dialect", generator.dialects())
@pytest.mark.xdist_group("golden")
def test_four_hundred_arguments(dialect: str) -> None:
    args: list[Any] = []
    expected = []
    for i in range(100):
        args += [{"tensor": f"{0x7F0000000000 + i:x}"}, -(2**40) - i, -i, {"float": (i + 0.5).hex()}]
        expected += [struct.pack("<Q", 0x7F0000000000 + i), struct.pack("<q", -(2**40) - i)]
        expected += [struct.pack("<i", -i), struct.pack("<d", i + 0.5)]
    assert launched(dialect, LONG, args) == expected
    (result,) = pool.run_cases([case(dialect, LONG, args[:-1])], "generated")
    prefix = len(generator.facts(dialect).prefix)
    assert result["error"]["type"] == "TypeError"
    assert result["error"]["text"] == f"function takes exactly {prefix + 400} arguments ({prefix + 399} given)"
    assert result["events"] == []


@pytest.mark.parametrize("dialect", [name for name in generator.dialects() if generator.facts(name).tuples])
@pytest.mark.xdist_group("golden")
def test_tuples_nested_five_deep(dialect: str) -> None:
    def nest(*values: Any) -> dict[str, Any]:
        return {"tuple": list(values)}

    innermost = nest({"float": (2.5).hex()}, -3)
    args = [7, nest(0x1000, nest(200, nest(65535, nest(None, innermost, nest()))), 2**32 - 1)]
    assert launched(dialect, DEEP, args) == [
        struct.pack("<i", 7),
        struct.pack("<Q", 0x1000),
        b"\xc8",
        b"\xff\xff",
        struct.pack("<d", 2.5),
        struct.pack("<q", -3),
        b"\xff\xff\xff\xff",
    ]
    short = [7, nest(0x1000, nest(200, nest(65535, nest(None, nest(1.0), nest()))), 1)]
    (result,) = pool.run_cases([case(dialect, DEEP, short)], "generated")
    place = len(generator.facts(dialect).prefix) + 2
    assert result["error"]["text"] == (
        f"argument {place}, item 1, item 1, item 1, item 1 must be sequence of length 2, not 1"
    )


@pytest.mark.parametrize("dialect", generator.dialects())
@pytest.mark.xdist_group("golden")
def test_an_fp16_overflow_that_is_pending_at_the_enter_hook(dialect: str) -> None:
    """3.4 and 3.5 on HIP narrow floats before it, so the hook's call fails or the process dies; the others go on."""
    (result,) = pool.run_cases([case(dialect, ["fp16"], [{"float": (1e6).hex()}])], "generated")
    goes_on = dialect not in ("triton-3.4-hip", "triton-3.5-hip")
    assert bool(outcome.launches({"events": [], **result})) == goes_on, result
