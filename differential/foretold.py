"""What native code must know of a dialect without a legacy launcher to work out most of its calls (native/model.hpp).

`predicted.py` says what ours must do with any call; the model says the same of most, faster. Both look at the input
alone, and a test holds the model against `predicted.py`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from relaunch.differential import _native, variadic
from relaunch.differential.case import Signature
from relaunch.differential.situation import Situation

from relaunch import generator

FUNCTION = "0xf00"  # stands for the call's own in the texts of a launch
Launch = tuple[str, str, str, int, int, int, str, str]


def model(dialect: str, signature: Signature) -> _native.Model | None:
    """The model of an expanded signature's calls; None where each call must be worked out in Python."""
    found = generator.facts(dialect)
    if not found.native or generator.registered(found.backend) is not None:
        return None
    hidden = [one.name for one in found.hidden]
    assert {one.size for one in found.hidden} == {8}
    cuda = found.backend == "cuda"
    return _native.Model(cuda, found.pointers.query, list(found.scratch), hidden, launches(dialect), signature)


@lru_cache(maxsize=64)
def launches(dialect: str) -> Any:
    """Gives what a call's launch is besides its grid, handles and parameters; see native/model.hpp."""
    known: dict[Any, Launch | None] = {}
    backend = generator.facts(dialect).backend

    def launch(call: dict[str, Any]) -> Launch | None:
        options = (call.get("cooperative"), call.get("pdl"), call.get("warp_size"))
        key = (*call["metadata"], *options)
        if key not in known:
            known[key] = _launch(dialect, backend, call)
        return known[key]

    return launch


def _launch(dialect: str, backend: str, call: dict[str, Any]) -> Launch | None:
    plain: dict[str, Any] = {"grid": [1, 1, 1], "stream": "0x0", "function": FUNCTION, "args": [], "fail": None}
    nothing = {**dict.fromkeys(generator.facts(dialect).scratch), "enter": "none", "exit": "none"}
    situation = Situation(dialect, backend, (), {**call, **plain, **nothing})
    if situation.metadata() is None:
        return None
    tail = variadic.tail(situation)
    assert tail is not None
    *before, event = tail[0]
    allowed = [json.dumps(one) for one in before]
    around = allowed[0].partition(FUNCTION[2:]) if allowed else ("", "", "")
    shape, rest = ({name: event[name] for name in names} for names in (("block", "shared"), ("gil_held", "attributes")))
    factors: list[int] = event["grid"]
    return (around[0], around[2], event["call"], *factors, json.dumps(shape)[1:-1], json.dumps(rest)[1:-1])
