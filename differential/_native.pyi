import mmap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

PROGRESS_BYTES: int
"""Bytes of what `Duel.run` writes to shared memory (native/duel.hpp, Progress)."""

class Alternatives:
    """Weighted rules by which one value is drawn (see native/draw.hpp)."""

    def __init__(self, rules: Iterable[tuple[Any, ...]]) -> None: ...

class Recipe:
    """What calls of a dialect are drawn from, arguments apart (see sampler.py)."""

    def __init__(self, given: Mapping[str, Any]) -> None: ...

class Sampler:
    """Draws the calls of one signature."""

    def __init__(
        self,
        recipe: Recipe,
        signature: tuple[Any, ...],
        kinds: Mapping[str, tuple[Alternatives, Alternatives]],
        fixed: Mapping[str, Any],
        key: int,
    ) -> None: ...
    def call(self, number: int, disturbed: bool = True) -> tuple[dict[str, Any], bool]:
        """The call with that number, and whether an entry of the divergence list may hold for it, that apart which
        native code applies itself. One that is not disturbed has arguments that launchers take."""

class Objects:
    """Builds the objects that arguments describe."""

    def __init__(
        self,
        backend: str,
        note: int,
        tensor_map: Callable[[bytes], Any] | None,
        named_tuple: Callable[[int], Any],
    ) -> None: ...
    def build(self, argument: Any) -> Any:
        """The object of an argument's JSON."""

class RecorderCalls:
    """A recording driver's entry points."""

    def __init__(self, addresses: Mapping[str, int]) -> None: ...

class Model:
    """What ours must do with a call in the native dialects, for most calls (see native/model.hpp)."""

    def __init__(
        self,
        cuda: bool,
        query: str,
        scratch: Sequence[str],
        hidden: Sequence[str],
        launch: Callable[[dict[str, Any]], tuple[Any, ...] | None],
        signature: tuple[Any, ...],
    ) -> None: ...
    def of(self, call: Mapping[str, Any]) -> tuple[bytes, str] | None:
        """The events' JSON and the type of the exception, "" where there is none; None where Python must work it
        out."""

class Duel:
    """Both launchers on the calls of one signature."""

    def __init__(
        self,
        sampler: Sampler,
        objects: Objects,
        legacy: Callable[..., Any] | None,
        prefix: Sequence[str],
        ours: Callable[[dict[str, Any]], Callable[..., Any] | None],
        launch_metadata: object,
        halves: Iterable[tuple[Sequence[int], int, bool]],
        model: Model | None,
        slots: Sequence[int],
        recorder: RecorderCalls,
    ) -> None: ...
    def run(self, memory: mmap.mmap, end: int) -> None:
        """Runs the cases from the one in `memory` to `end` - 1."""
    def outcome(self, call: Mapping[str, Any], legacy: bool) -> tuple[bytes, BaseException | None] | None:
        """What one launcher does: (the events' JSON, the exception or None); None where it cannot be compared."""

@final
class PyCUtensorMap:
    """Stand-in for Triton's class: a 128-byte tensor map at offset 128 of a 128-byte-aligned object."""

    def __new__(cls, map: bytes, /) -> PyCUtensorMap: ...

@final
class PyTDMDescriptor:
    """Stand-in for Triton's class: a descriptor of 48 or 80 bytes behind the object's header."""

    def __new__(cls, words: bytes, /) -> PyTDMDescriptor: ...

def compare(expected: bytes, got: bytes) -> str | None:
    """The first difference between two outcomes in canonical JSON, named, or None. A null among the
    params of an expected event is free. ValueError for text that is not JSON."""

def exchange_capsule(backend: str) -> object:
    """A class's `__dlpack_c_exchange_api__`: its tensors lie on that backend's kind of device, at the
    address that their attribute `answer` holds. ValueError for another backend."""
