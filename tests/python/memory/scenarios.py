"""What is tried while memory is refused: binding, launching and migrating, what fails in them included."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from relaunch.differential._native import exchange_capsule
from relaunch.differential.recorder import Recorder

import relaunch
from relaunch import _core, generator


def nothing() -> None:
    """Nothing has to be prepared."""


@dataclass
class Scenario:
    """One call, for which memory is refused. `seen` tells afterwards what came of it, for comparison."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    prepare: Callable[[], None] = nothing
    seen: Callable[[Any], Any] = repr
    recorder: Recorder | None = None
    sources: tuple[str, ...] = ("C", "Python")  # without C's where the recorder itself takes of it
    bound: int = 0  # objects of pybind11 that the call makes: it loses one that it has no memory to list
    refusal: str = "Could not allocate "  # how a text begins that says the same as MemoryError does


# Arguments whose code is C's: of Python's own, one refusal makes CPython 3.11 itself raise SystemError now and then.


def made_of(**members: Any) -> Any:
    """An object of a class of its own with these members; one that is called is not bound to it."""
    return type("Made", (), members)()


def tensor(address: int) -> Any:
    return made_of(data_ptr=partial(abs, -address))


EMPTY: dict[Any, Any] = {}
RAISES = partial(EMPTY.__getitem__, "mine")
FAILS = made_of(data_ptr=RAISES, __index__=RAISES, __float__=RAISES, __call__=RAISES)
INDEX = made_of(__index__=partial(abs, -(2**20)))
DESCRIPTOR = made_of(
    base=tensor(0x7F0000001000), shape=(2**20, 2**21), strides=(2**21, 1), padding="nan", round_f32_to_tf32=False
)
SCRATCH = EMPTY.get  # of (grid, stream): the stream
META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [8, 16], "fp4_padded": True}
DESCRIBED = "tensordesc<fp16[8, 16]>"
ADDRESS, ELSEWHERE = 0x700000001000, 0xBA0000000000  # the second is none of the device's
GRID = (1, 1, 1, 2**40)


class Bound:
    """Launchers of one dialect on its recording driver, and scenarios with them."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.facts = generator.facts("triton-3.6-" + dialect.rsplit("-", 1)[1])
        self.backend = self.facts.backend
        self.release = tuple(map(int, dialect.split("-")[1].split(".")))
        self.recorder = Recorder(self.backend)

    def options(self, **options: Any) -> dict[str, Any]:
        path = str(self.recorder.path)
        return {"dialect": self.dialect, "function": 2**40, "name": "add", "driver": path, **options}

    def binding(self, tree: Any, refusal: str = "Could not allocate ", **options: Any) -> Scenario:
        return Scenario(
            relaunch.Launcher,
            (tree,),
            self.options(**options),
            self.recorder.reset,
            lambda made: repr(made.parameters),
            self.recorder,
            bound=isinstance(tree, str),
            refusal=refusal,
        )

    def launching(
        self, tree: Any, *args: Any, grid: Any = GRID, fail: tuple[str, int] | None = None, **options: Any
    ) -> Scenario:
        launcher = relaunch.Launcher(tree, **self.options(**options))
        return Scenario(launcher, (*grid, *args), {}, self.preparing(launcher, fail), recorder=self.recorder)

    def launching_with(self, tree: Any, metadata: Any, hooks: tuple[Any, Any], *args: Any) -> Scenario:
        launcher = relaunch.Launcher(tree, **self.options())
        given = (*GRID, 2**41, metadata, {"a": 1}, *hooks, *args)
        return Scenario(launcher.launch, given, {}, self.preparing(launcher, None), recorder=self.recorder)

    def preparing(self, launcher: relaunch.Launcher, fail: tuple[str, int] | None) -> Callable[[], None]:
        def prepare() -> None:
            self.recorder.reset()
            self.recorder.set_slots(launcher.slots)
            if fail is not None:
                self.recorder.fail(fail[0], 0, fail[1])

        return prepare

    def metadata(self) -> tuple[int, ...]:
        return (8, 2, 250_000, *((2, 1, 1) if self.release < (3, 6) else ()))

    def exchanged(self) -> Any:
        api = exchange_capsule(self.backend)
        return made_of(__dlpack_c_exchange_api__=api, data_ptr=partial(abs, -1), answer=ADDRESS)

    @property
    def launch_call(self) -> str:
        if self.backend == "hip":
            return "hipModuleLaunchKernel"
        return "cuLaunchKernelEx" if self.release >= (3, 2) else "cuLaunchKernel"


def binding(made: Bound) -> dict[str, Callable[[], Scenario]]:
    found: dict[str, Callable[[], Scenario]] = {
        "text": lambda: made.binding("*fp32, i32, constexpr, u64, fp16"),
        "a tree": lambda: made.binding(relaunch.parse("*fp32, i32")),
        "options": lambda: made.binding(
            "*fp32", warp_size=64 if made.backend == "hip" else 32, shared=1000, strict=True, cooperative=True
        ),
        "no signature": lambda: made.binding("i32, fp7"),
        "unknown type": lambda: made.binding(relaunch.Tree([relaunch.PyKernelArg(dtype="fp7")])),
        "no library": lambda: made.binding("i32", "the driver library cannot be opened: ", driver="/nowhere/driver.so"),
        "another library": lambda: made.binding("i32", driver="libm.so.6"),
        "odd option": lambda: made.binding("i32", num_warps="x"),
    }
    if made.release >= (3, 3):
        found["tuples"] = lambda: made.binding("(i32, (*fp32, i8)), (fp16,)")
    if made.backend == "cuda" and made.release >= (3, 4):
        found["descriptors"] = lambda: made.binding(DESCRIBED, tensordesc_meta=[META])
        found["odd metadata"] = lambda: made.binding(DESCRIBED, tensordesc_meta=[{**META, "elem_type": 99}])
        found["shared memory that is refused"] = lambda: shared_refused(made)
        found["a map"] = lambda: Scenario(
            relaunch.TensorMap.encode,
            (),
            {
                "data_type": 6,
                "address": 2**40,
                "dims": [2**40],
                "strides": [],
                "box": [8],
                "driver": str(made.recorder.path),
            },
            made.recorder.reset,
            lambda one: bytes(one).hex(),
            made.recorder,
            ("Python",),
        )

    def asking(function: Any, *more: Any) -> Callable[[], Scenario]:
        launcher = "*fp32, u64"
        return lambda: Scenario(function, (relaunch.Launcher(launcher, **made.options()), *more))

    found["repr"] = asking(repr)
    for name in ("name", "dialect", "signature", "slots", "parameters"):
        found[name] = asking(getattr, name)
    return found


def shared_refused(made: Bound) -> Scenario:
    scenario = made.binding("i32", shared=300_000)

    def prepare() -> None:
        made.recorder.reset()
        made.recorder.fail("cuFuncSetAttribute", 0, 1)

    scenario.prepare = prepare
    return scenario


def launching(made: Bound) -> dict[str, Callable[[], Scenario]]:
    here, elsewhere = tensor(ADDRESS), tensor(ELSEWHERE)
    found: dict[str, Callable[[], Scenario]] = {
        "flat": lambda: made.launching("*i8, i64, fp64, u64, i32", here, 2**40, 1.5, 2**64 - 1, INDEX),
        "by exchange": lambda: made.launching("*i8", made.exchanged()),
        "many": lambda: made.launching(", ".join(["i32"] * 3000), *range(3000)),
        "hooks": lambda: made.launching_with("*i8", made.metadata(), (repr, repr), here),
        "a hook that raises": lambda: made.launching_with("*i8", made.metadata(), (FAILS, None), here),
        "other metadata": lambda: made.launching_with("*i8", "x", (None, None), here),
        "a grid out of range": lambda: made.launching("*i8", here, grid=(-1, 1, 1, 0)),
        "no number": lambda: made.launching("*i8, i32", here, "x"),
        "a long number": lambda: made.launching("*i8, i32", here, 10**30),
        "a raising number": lambda: made.launching("*i8, i32", here, FAILS),
        "no address": lambda: made.launching("*i8", object()),
        "a raising here": lambda: made.launching("*i8", FAILS),
        "an address of the host": lambda: made.launching("*i8", elsewhere),
        "too few": lambda: made.launching("*i8, i32", here),
        "a refused launch": lambda: made.launching("*i8", here, fail=(made.launch_call, 700)),
        "no function": lambda: made.launching("*i8", here, function=None),
        "a large half": lambda: made.launching("fp16", 1e9),
    }
    if made.release >= (3, 3):
        found["tuples"] = lambda: made.launching(
            "(*i8, (i64, i32)), (i64, i64)", (here, [2**40, 7]), array("q", [2**30, 2**31])
        )
        found["a range"] = lambda: made.launching("(i64, i64)", range(2**30, 2**30 + 2))
        found["a tuple of another length"] = lambda: made.launching("(i64, i64)", [1])
    if made.release >= ((3, 5) if made.backend == "cuda" else (3, 6)):
        found["scratch"] = lambda: made.launching("*i8", here, profile_scratch=SCRATCH)
    if made.backend == "cuda":
        found["no context"] = lambda: made.launching("*i8", here, fail=("cuCtxGetCurrent", 201))
    if made.backend == "cuda" and made.release >= (3, 4):
        found["objects"] = lambda: encoding(made)
        found["no encoding"] = lambda: made.launching(
            DESCRIBED, DESCRIPTOR, tensordesc_meta=[META], fail=("cuTensorMapEncodeTiled", 1)
        )
        found["objects apart"] = lambda: made.launching(DESCRIBED, DESCRIPTOR)
        found["no descriptor"] = lambda: made.launching(DESCRIBED, object())
    return found


def encoding(made: Bound) -> Scenario:
    scenario = made.launching(DESCRIBED, DESCRIPTOR, tensordesc_meta=[META])
    scenario.sources = ("Python",)
    return scenario


TEXTS = {
    "comma text": ("*fp32, i32, constexpr, (i32, *fp16)", "auto"),
    "a dict": ('{"x": "*fp32", "n": "i32"}', "auto"),
    "a fault": ("*fp32, i3 2, (", "auto"),
    "a form that is none": ("i32", "fax"),
}
FILE = (
    b"tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {\n}\n",
    b"import triton\nASTSource(fn=k, signature={'x': '*fp32', 'n': 'i32'}, constexprs={'B': 64})\n",
    b"*fp32, i32\ni3 2\n",
)


def as_json(signatures: list[_core.Signature]) -> list[str]:
    return [one.to_json() for one in signatures]


def writing(content: bytes, way: str) -> Scenario:
    return Scenario(getattr(_core.read_signatures(content, "a.py")[0], way))


def migrating(_made: Bound) -> dict[str, Callable[[], Scenario]]:
    found: dict[str, Callable[[], Scenario]] = {}
    for name, given in TEXTS.items():
        found[f"parse {name}"] = partial(Scenario, relaunch.parse, given, seen=relaunch.Tree.dump, bound=1)
    for i, content in enumerate(FILE):
        found[f"read {i}"] = partial(Scenario, _core.read_signatures, (content, "a.py"), seen=as_json, bound=2)
        for way in ("to_json", "to_python", "to_csv"):
            found[f"{way} {i}"] = partial(writing, content, way)
    found["dump"] = lambda: Scenario(relaunch.parse("(i32, *fp16)").dump)
    found["the same"] = lambda: Scenario(relaunch.parse("i32, *fp16").__eq__, (relaunch.parse("i32, *fp16"),))
    found["diagnostics"] = lambda: Scenario(getattr, (_core.read_signatures(b"i3 2", "a.csv")[0], "diagnostics"))
    return found


def faulty(_made: Bound) -> dict[str, Callable[[], Scenario]]:
    """Calls that do not bear a refusal, and one that does: for trying the trial."""
    kept: list[Any] = []
    shared: list[Any] = []

    def call(fault: Callable[[], Any], _marker: Any) -> str:
        try:
            bytes(1000)
        except MemoryError:
            fault()
            raise
        return f"{len(shared)} kept"

    def reword() -> None:
        raise TypeError("other words") from None

    marker = made_of()
    faults = {
        "dies": os.abort,
        "keeps memory": lambda: kept.append(bytearray(1)),
        "keeps a reference": lambda: kept.append(marker),
        "rewords": reword,
        "never recovers": lambda: shared.append(None),
        "is right": nothing,
    }
    return {name: partial(Scenario, call, (fault, marker)) for name, fault in faults.items()}


KINDS = {"faulty": faulty, "binding": binding, "launching": launching, "migrating": migrating}
