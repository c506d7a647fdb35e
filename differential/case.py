"""Cases: one dialect, one signature, one call. The form is that of tests/golden (see its README)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from relaunch.differential.arguments import MAX_NESTING, ArgumentError, check

from relaunch import generator

Signature: TypeAlias = tuple[Any, ...]
"""Type strings and tuples of them."""

DIALECTS: tuple[str, ...] = generator.all_dialects()
"""What the precompiled launcher can run; a generated one exists for `generator.dialects()`."""

HOOKS = ("none", "ok", "raise")


class CaseError(ValueError):
    """A case that is not of the golden form; the text says where and what was expected."""


class DialectError(CaseError):
    """A case of a release or backend that is not built in."""


def dialect_of(release: str, backend: str) -> str:
    """The dialect of a release such as "3.6.0"; 3.1 is 3.0, and 3.8 is 3.9. DialectError where there is none."""
    own = generator.own_dialect(release, backend)
    if own is not None:
        return own
    try:
        return generator.facts(f"triton-{release}-{backend}").dialect
    except generator.UnknownDialectError:
        raise DialectError(f"no dialect for release {release} on {backend}: there are {', '.join(DIALECTS)}") from None


@dataclass(frozen=True)
class Case:
    """One call of one launcher. `call` and `expect` are the JSON objects of the golden form; running
    a case reads nothing of `expect` but its `slots`.

    A `wrapped` case is one level up: the launcher object is given descriptor objects, which it encodes as
    `tensordesc_meta` says (None: no metadata), and no `data_ptr()` notes that it was called.
    """

    id: str
    release: str
    backend: str
    signature: Signature
    call: Mapping[str, Any]
    constants: tuple[int, ...] = ()
    expect: Mapping[str, Any] | None = field(default=None, compare=False)
    wrapped: bool = False
    tensordesc_meta: tuple[Any, ...] | None = None

    @property
    def dialect(self) -> str:
        """The dialect that runs it. DialectError where there is none."""
        return dialect_of(self.release, self.backend)

    @property
    def slots(self) -> list[int] | None:
        """Bytes of each kernel parameter where the case says them, hidden ones last."""
        slots = (self.expect or {}).get("slots")
        return None if slots is None else list(slots)

    @staticmethod
    def from_json(source: Mapping[str, Any]) -> Case:
        """Read one line of a golden file. CaseError where it is not of that form."""
        _require(isinstance(source, Mapping), "the case", "an object", source)
        for name in ("id", "release", "backend"):
            _require(isinstance(source.get(name), str), name, "a string", source.get(name))
        dialect_of(source["release"], source["backend"])
        constants = source.get("constants") or ()
        _require(_is_ints(constants), "constants", "a list of integers", constants)
        expect = source.get("expect")
        _require(expect is None or isinstance(expect, Mapping), "expect", "an object", expect)
        slots = (expect or {}).get("slots")
        sizes = slots is None or (_is_ints(slots) and all(0 <= size < 2**32 for size in slots))
        _require(sizes, "expect.slots", "a list of sizes", slots)
        signature = source.get("signature")
        _require(isinstance(signature, (list, tuple)), "signature", "a list", signature)
        call = source.get("call")
        _require(isinstance(call, Mapping), "call", "an object", call)
        assert isinstance(call, Mapping)
        _check_call(call)
        meta = source.get("tensordesc_meta")
        _require(_is_meta(meta), "tensordesc_meta", "null, or a list of objects and nulls", meta)
        return Case(
            id=source["id"],
            release=source["release"],
            backend=source["backend"],
            signature=_frozen(signature, "signature"),
            call=call,
            constants=tuple(constants),
            expect=expect,
            wrapped="tensordesc_meta" in source,
            tensordesc_meta=None if meta is None else tuple(meta),
        )

    def to_json(self) -> dict[str, Any]:
        """The golden form again; `expect` only where the case has one."""
        shown: dict[str, Any] = {
            "id": self.id,
            "release": self.release,
            "backend": self.backend,
            "signature": _thawed(self.signature),
        }
        if self.constants:
            shown["constants"] = list(self.constants)
        if self.wrapped:
            shown["tensordesc_meta"] = None if self.tensordesc_meta is None else list(self.tensordesc_meta)
        shown["call"] = dict(self.call)
        if self.expect is not None:
            shown["expect"] = dict(self.expect)
        return shown


def _require(holds: bool, place: str, expected: str, got: Any) -> None:
    if not holds:
        raise CaseError(f"{place}: expected {expected}, got {got!r:.80}")


def _is_ints(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(type(value) is int for value in values)


def _is_meta(meta: Any) -> bool:
    if meta is None:
        return True
    return isinstance(meta, list) and all(entry is None or isinstance(entry, Mapping) for entry in meta)


def _frozen(signature: Any, place: str, level: int = 0) -> Signature:
    if level > MAX_NESTING:
        raise CaseError(f"signature: nested deeper than {MAX_NESTING}")
    entries = []
    for i, entry in enumerate(signature):
        here = f"{place}[{i}]"
        _require(isinstance(entry, (str, list, tuple)), here, "a type or a list of types", entry)
        entries.append(entry if isinstance(entry, str) else _frozen(entry, here, level + 1))
    return tuple(entries)


def _thawed(signature: Signature) -> list[Any]:
    return [entry if isinstance(entry, str) else _thawed(entry) for entry in signature]


def _is_hex(value: Any) -> bool:
    try:
        return isinstance(value, str) and int(value, 16) >= 0
    except ValueError:
        return False


def _check_call(call: Mapping[str, Any]) -> None:
    grid, args = call.get("grid"), call.get("args")
    _require(isinstance(grid, (list, tuple)) and len(grid) == 3, "call.grid", "three entries", grid)
    _require(isinstance(args, (list, tuple)), "call.args", "a list", args)
    for name in ("stream", "function"):
        number = call.get(name)
        _require(not isinstance(number, str) or _is_hex(number), f"call.{name}", "a hexadecimal number", number)
    for name in ("enter", "exit"):
        hook = call.get(name, "none")
        _require(hook in HOOKS, f"call.{name}", f"one of {', '.join(HOOKS)}", hook)
    fail = call.get("fail")
    _require(fail is None or _is_failure(fail), "call.fail", "[function, n, status]", fail)
    warp_size = call.get("warp_size", 0)
    _require(type(warp_size) is int, "call.warp_size", "an integer", warp_size)
    _check_arguments(call)


def _is_failure(fail: Any) -> bool:
    if not (isinstance(fail, (list, tuple)) and len(fail) == 3):
        return False
    function, n, status = fail
    return isinstance(function, str) and _is_ints([n, status]) and 0 <= n < 2**32 and -(2**31) <= status < 2**31


def _check_arguments(call: Mapping[str, Any]) -> None:
    for name in ("grid", "args"):
        for i, argument in enumerate(call[name]):
            _check_argument(f"call.{name}[{i}]", argument)
    metadata = call.get("metadata")
    if isinstance(metadata, (list, tuple)):
        for i, argument in enumerate(metadata):
            _check_argument(f"call.metadata[{i}]", argument)
    else:
        _check_argument("call.metadata", metadata)
    for name in ("stream", "function"):
        if not isinstance(call.get(name), str):
            _check_argument(f"call.{name}", call.get(name))
    for name in ("global_scratch", "profile_scratch"):
        _check_argument(f"call.{name}", call.get(name))


def _check_argument(place: str, argument: Any) -> None:
    try:
        check(argument)
    except ArgumentError as error:
        raise CaseError(f"{place}: {error}") from None
