"""Seeded cases for one signature: mostly launches, with every kind of refusal and failure mixed in.

The same dialect, signature and seed give the same cases on every machine and Python. A case is valid arguments and
launch options, then in about two of five cases one disturbance, rarely several: an odd argument, a wrong count, a grid
that is empty, negative, wrapping or too large, broken metadata, a hook that raises, a driver call that fails.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from relaunch.differential.case import Case, Signature
from relaunch.differential.situation import INT32_MAX, expanded, freeze
from relaunch.differential.values import odd, odd_pointer, tensor, valid

from relaunch import generator

Call = dict[str, Any]

_STATUSES = (1, 2, 700, 719)
_WITH_CLUSTER = 6  # entries of kernel_metadata up to 3.5: num_warps, num_ctas, shared, and the cluster's dimensions
_DIMS_X = (1, 1, 1, 2, 3, 7, 128, 65535, 2**31 - 1)
_DIMS_YZ = (1, 1, 1, 1, 2, 3, 65535)

_LAUNCH_CALLS = {
    "cuda": ("cuLaunchKernelEx", "cuLaunchKernelEx", "cuLaunchKernel"),
    "hip": ("hipModuleLaunchKernel", "hipModuleLaunchCooperativeKernel", "hipDrvLaunchKernelEx"),
}


def sample(dialect: str, signature: Any, count: int, seed: int) -> Iterator[Case]:
    """`count` cases for a signature given as nested lists or tuples of types.

    Raise `generator.UnknownType` where the dialect's launcher cannot be made.
    """
    given = freeze(signature)
    types = expanded(dialect, given)
    identity = json.dumps([dialect, given], separators=(",", ":"))
    rng = Random(f"{seed} {identity}")
    name = hashlib.sha256(identity.encode()).hexdigest()[:8]
    release = dialect.split("-")[1] + ".0"
    sampler = _Sampler(dialect, types, rng)
    for i in range(count):
        call = sampler.call()
        yield Case(f"{dialect}-{name}-{seed}-{i}", release, sampler.backend, given, call, constants=sampler.constants)


def _set_ctas(call: Call, num_ctas: int, cluster: tuple[int, int, int] | None = None) -> None:
    """Set num_ctas and, in metadata that has one, the cluster: all CTAs along x where none is given."""
    metadata = call["metadata"]
    if isinstance(metadata, list):
        metadata[1:2] = [num_ctas]
        if len(metadata) == _WITH_CLUSTER:
            metadata[3:] = cluster or (num_ctas, 1, 1)


class _Sampler:
    """Draws calls for one expanded signature."""

    def __init__(self, dialect: str, types: Signature, rng: Random) -> None:
        self.facts = generator.facts(dialect)
        self.dialect = self.facts.dialect
        self.backend = self.facts.backend
        self.types = types
        self.rng = rng
        self.warp_size = rng.choice((32, 64))  # one for all cases: legacy compiles it in
        self.scratch = self.facts.scratch
        self.flags = [flag.name for flag in self.facts.prefix if flag.name in ("cooperative", "pdl")]
        self.clusters = len(self.facts.metadata.elements) == _WITH_CLUSTER
        self.drawers = [valid(kind, dialect) for kind in types]
        self.constants: tuple[int, ...] = ()  # compiled in as well
        if self.facts.folds_constants:
            self.constants = tuple(i for i in range(len(types)) if rng.random() < 0.2)
        disturbances: list[tuple[int, Callable[[Call], None]]] = [
            (36, self._odd_argument),
            (4, self._wrong_count),
            (10, self._odd_grid),
            (4, self._odd_metadata),
            (2, self._odd_stream),
            (5, self._hook_raises),
            (4 if self.scratch else 0, self._odd_scratch),
            (9, self._launch_fails),
            (8, self._query_fails),
        ]
        if self.backend == "cuda":
            disturbances += [(4, self._attribute_fails), (3, self._context_fails)]
        self.disturb = [action for _, action in disturbances]
        self.weights = [weight for weight, _ in disturbances]

    def call(self) -> Call:
        call = self._plain()
        roll = self.rng.random()
        times = 0 if roll < 0.6 else 1 if roll < 0.9 else 2 if roll < 0.98 else 3
        for action in self.rng.choices(self.disturb, self.weights, k=times):
            action(call)
        return call

    def _plain(self) -> Call:
        rng = self.rng
        call: Call = {
            "grid": [rng.choice(_DIMS_X), rng.choice(_DIMS_YZ), rng.choice(_DIMS_YZ)],
            "stream": rng.choice(("0x0", "0x1", "0x2", "0x55d000001000")),
            "function": rng.choice(("0xf00", "0x7f1234567890")),
            "metadata": [
                rng.choice((1, 2, 4, 8, 16, 32)),
                rng.choice((1, 1, 1, 1, 2, 4, 8, 16)),
                rng.choice((0, 0, 128, 49152, 101376, 232448)),
            ],
        }
        if self.clusters:
            self._draw_cluster(call)
        if call["grid"][0] * call["metadata"][1] > INT32_MAX or self._wraps(call["grid"]):
            call["grid"] = [rng.randrange(1, 1024), 1, rng.choice((1, 2))]
        for flag in self.flags:
            call[flag] = rng.random() < (0.15 if flag == "cooperative" else 0.25)
        if self.facts.launch.warp_size != "32":  # compiled in, or an argument
            call["warp_size"] = self.warp_size
        for key in self.scratch:
            call[key] = rng.choice((None, None, {"tensor": "0x7a0000000000"}, 135239930216448))
        call["enter"] = rng.choice(("none", "ok"))
        call["exit"] = rng.choice(("none", "ok"))
        call["args"] = [draw(rng) for draw in self.drawers]
        if self.backend == "cuda" and rng.random() < 0.03:
            call["no_context"] = True
        return call

    def _draw_cluster(self, call: Call) -> None:
        ctas = call["metadata"][1]
        call["metadata"] += [1, 1, 1]
        half = (ctas // 2, 2, 1) if ctas > 1 else None
        _set_ctas(call, ctas, self.rng.choice((None, None, half, (1, 1, ctas))))

    def _wraps(self, grid: list[int]) -> bool:
        return grid[0] * grid[1] * grid[2] > INT32_MAX

    def _odd_argument(self, call: Call) -> None:
        if not self.types:
            self._wrong_count(call)
            return
        place = self.rng.randrange(len(self.types))
        if place < len(call["args"]):
            call["args"][place] = self._oddly(self.types[place], call["args"][place])

    def _oddly(self, kind: Any, argument: Any) -> Any:
        """An odd argument for the type; for a tuple mostly an odd item somewhere inside."""
        if isinstance(kind, tuple) and kind and self.rng.random() < 0.8:
            items = list(argument["tuple"]) if isinstance(argument, dict) and "tuple" in argument else None
            if items is None or len(items) != len(kind):
                items = [valid(inner, self.dialect)(self.rng) for inner in kind]
            place = self.rng.randrange(len(kind))
            items[place] = self._oddly(kind[place], items[place])
            return {"tuple": items}
        return odd(kind, self.dialect, self.rng)

    def _wrong_count(self, call: Call) -> None:
        if call["args"] and self.rng.random() < 0.5:
            call["args"].pop()
        else:
            call["args"].append(self.rng.choice((1, None, {"tensor": "0x1000"})))

    def _odd_grid(self, call: Call) -> None:
        rng = self.rng
        roll = rng.random()
        place = rng.randrange(3)
        if roll < 0.25:
            call["grid"][place] = 0
        elif roll < 0.45:
            call["grid"][place] = rng.choice((-1, -(2**31), -7))
        elif roll < 0.65:
            call["grid"] = rng.choice(([65536, 65536, 1], [2**26, 64, 1], [65536, 32768, 1], [2**31 - 1, 2, 1]))[:]
            _set_ctas(call, 1)
        elif roll < 0.8:
            call["grid"][0] = 2**31 - 1
            _set_ctas(call, rng.choice((2, 4, 16)))
        else:
            call["grid"][place] = rng.choice(
                (None, {"float": "0x1.0p+0"}, {"index": 4}, {"str": "1"}, 2**31, 2**40, -(2**70), True, {"index": -1})
            )

    def _odd_metadata(self, call: Call) -> None:
        warps, ctas, shared = 4, self.rng.choice((1, 2, 16)), 128
        rest: list[Any] = self.rng.choice(([ctas, 1, 1], [1, ctas, 1], [0, 1, 1], [2, -1, 1])) if self.clusters else []
        call["metadata"] = self.rng.choice(
            (
                None, {"list": [warps, ctas, shared, *rest]}, [warps, ctas], [warps, ctas, shared, *rest, 0],
                [{"str": "x"}, ctas, 0, *rest], [warps, {"index": ctas}, shared, *rest],
                [warps, ctas, 2**31, *rest], [warps, None, shared, *rest],
                [True, ctas, {"index": 0}, *rest], [{"float": "0x1.0p+2"}, ctas, shared, *rest],
                {"str": "abc" if not rest else "abcdef"}, 3, [warps, 0, shared, *rest], [warps, -1, shared, *rest],
                [0, ctas, shared, *rest], [2**31 - 1, ctas, -1, *rest], [-1, 1, -(2**31), *rest],
            )
        )  # fmt: skip

    def _odd_stream(self, call: Call) -> None:
        call["stream"] = self.rng.choice((None, {"float": "0x1.0p+0"}, {"index": 1}, {"str": "0"}, -1, 2**64 + 5, True))

    def _hook_raises(self, call: Call) -> None:
        call[self.rng.choice(("enter", "exit"))] = "raise"

    def _odd_scratch(self, call: Call) -> None:
        odd_one = self.rng.choice((tensor, odd_pointer))
        call[self.rng.choice(self.scratch)] = odd_one(self.rng)

    def _launch_fails(self, call: Call) -> None:
        ways = tuple(way.function for way in self.facts.launch.ways)
        name = self.rng.choice(_LAUNCH_CALLS.get(self.backend, ways))
        call["fail"] = [name, self.rng.choice((0, 0, 0, 1)), self.rng.choice(_STATUSES)]

    def _query_fails(self, call: Call) -> None:
        call["fail"] = [self.facts.pointers.query, self.rng.choice((0, 0, 1, 1, 2, 5)), self.rng.choice(_STATUSES)]

    def _attribute_fails(self, call: Call) -> None:
        call["fail"] = ["cuFuncSetAttribute", self.rng.choice((0, 0, 0, 1)), self.rng.choice(_STATUSES)]
        if self.rng.random() < 0.8:
            _set_ctas(call, 16)

    def _context_fails(self, call: Call) -> None:
        names = ("cuCtxGetCurrent", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent")
        call["fail"] = [self.rng.choice(names), self.rng.choice((0, 0, 0, 1)), self.rng.choice(_STATUSES)]
        call["no_context"] = self.rng.random() < 0.9
