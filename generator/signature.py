"""Signatures of launchers: checked, expanded, flattened, and turned into slot sizes, from the frozen facts alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from relaunch.generator.dialects import facts
from relaunch.generator.facts import Facts, TypeFacts

# The only texts that are taken for a type besides the names in the facts' table.
_POINTER = re.compile(r"\*+[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_DESCRIPTOR = re.compile(
    r"tensordesc<([A-Za-z_][A-Za-z0-9_]*)\[( *[0-9]+ *(?:, *[0-9]+ *)*)\](?:,[ -~]*)?>",
    re.ASCII,
)
_MAX_TUPLE_DEPTH = 256
_MAX_WARP_SIZE = 1024

Path = tuple[int, ...]


class UnknownType(KeyError):  # noqa: N818 - what callers of make_launcher catch, by its established name
    """A signature has a type that the dialect's launcher does not know.

    `type` is the text, `path` its place: index of the top-level entry, then indices into tuples.
    """

    def __init__(self, type: str, path: Path, dialect: str) -> None:
        super().__init__(type)
        self.type = type
        self.path = path
        self.dialect = dialect

    def __reduce__(self) -> tuple[Any, ...]:
        return UnknownType, (self.type, self.path, self.dialect)

    def __str__(self) -> str:
        shown = self.type if len(self.type) <= 80 else self.type[:77] + "..."
        return f"{self.dialect} has no type {shown!r} (argument {place(self.path)})"


@dataclass(frozen=True)
class LauncherSpec:
    """What one legacy launcher is generated from. Lists are taken as tuples."""

    dialect: str
    signature: tuple[Any, ...]  # nested tuples of type strings
    constants: tuple[int, ...] = ()  # folded entries; only dialects up to 3.2 have them
    tensordesc_meta: tuple[Any, ...] | None = None  # one entry per descriptor, None: lowered to pointers
    warp_size: int = 64  # threads; HIP only, where it is baked into the source

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", _as_tuples(self.signature, 0))
        object.__setattr__(self, "constants", tuple(self.constants))
        if self.tensordesc_meta is not None:
            object.__setattr__(self, "tensordesc_meta", tuple(self.tensordesc_meta))


@dataclass(frozen=True)
class Leaf:
    """One entry of the flattened signature. `index` counts all leaves, constexpr ones included."""

    index: int
    type: TypeFacts


def place(path: Path) -> str:
    """`3` or, inside tuples, `3, item 0, item 1`."""
    return ", item ".join(map(str, path))


def _as_tuples(entry: Any, depth: int) -> Any:
    if not isinstance(entry, (list, tuple)):
        return entry
    if depth > _MAX_TUPLE_DEPTH:
        raise ValueError(f"tuples are nested deeper than {_MAX_TUPLE_DEPTH}")
    return tuple(_as_tuples(item, depth + 1) for item in entry)


def check(spec: LauncherSpec) -> Facts:
    """The facts of the spec's dialect, once everything but the types is known to be sound.

    Raises UnknownDialectError, ValueError.
    """
    found = facts(spec.dialect)
    if not isinstance(spec.signature, tuple):
        raise ValueError(f"a signature is a tuple of types, not {type(spec.signature).__name__}")
    if spec.constants:
        raise ValueError(f"{found.dialect} folds no constants")
    size: object = spec.warp_size
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= _MAX_WARP_SIZE:
        raise ValueError(f"warp_size must be an int from 1 to {_MAX_WARP_SIZE}, not {str(size)[:80]}")
    if spec.tensordesc_meta and found.descriptor.type is None:
        raise ValueError(f"{found.dialect} takes no descriptor metadata")
    return found


def expand(spec: LauncherSpec) -> tuple[Any, ...]:
    """The signature after expansion of top-level descriptors; still nested, constexpr kept.

    Raises UnknownType (for descriptors inside tuples too: no legacy launcher takes them), UnknownDialectError, and
    ValueError where the descriptor metadata does not fit the signature.
    """
    found = check(spec)
    meta = spec.tensordesc_meta or None
    entries: list[Any] = []
    descriptors = 0
    for index, entry in enumerate(spec.signature):
        match = _DESCRIPTOR.fullmatch(entry) if isinstance(entry, str) else None
        if match is None:
            _check_entry(found, entry, (index,))
            entries.append(entry)
            continue
        described = meta is not None and descriptors < len(meta) and meta[descriptors] is not None
        descriptors += 1
        entries += _expansion(found, match[1], match[2].count(",") + 1, described)
    if meta is not None and descriptors != len(meta):
        raise ValueError(f"descriptor metadata has {len(meta)} entries for {descriptors} descriptors")
    return tuple(entries)


def _expansion(found: Facts, element: str, rank: int, described: bool) -> list[str]:
    tail = ["i32"] * rank + ["i64"] * rank
    if described:
        return [found.descriptor.name, *tail]
    return ["*" + element, *["i64"] * (2 * rank), *found.descriptor.padding, *tail]


def _check_entry(found: Facts, entry: Any, path: Path) -> None:
    if isinstance(entry, tuple):
        for index, item in enumerate(entry):
            _check_entry(found, item, (*path, index))
    elif not isinstance(entry, str):
        raise ValueError(f"argument {place(path)} must be a type or a tuple of types, not {type(entry).__name__}")
    elif entry not in found.types and not _POINTER.fullmatch(entry):
        raise UnknownType(entry, path, found.dialect)


def type_facts(found: Facts, entry: str) -> TypeFacts:
    """The facts of one type of an expanded signature."""
    if entry.startswith("*"):
        return found.pointer
    if entry == found.descriptor.name and found.descriptor.type is not None:
        return found.descriptor.type
    return found.types[entry]


def leaves(found: Facts, expanded: tuple[Any, ...]) -> list[Leaf]:
    """An expanded signature depth first, left to right."""
    return [Leaf(index, type_facts(found, entry)) for index, entry in enumerate(_flat(expanded))]


def _flat(entries: tuple[Any, ...]) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, tuple):
            yield from _flat(entry)
        else:
            yield entry


def slots(spec: LauncherSpec) -> list[int]:
    """Bytes of every kernel parameter in order, hidden ones last. Raises as `expand`."""
    found = check(spec)
    own = [leaf.type.size for leaf in leaves(found, expand(spec)) if leaf.type.size]
    return own + [hidden.size for hidden in found.hidden]
