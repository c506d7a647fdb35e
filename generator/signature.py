"""Signatures of launchers: checked, expanded, flattened, and turned into slot sizes, from the frozen facts alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from relaunch.generator.dialects import facts
from relaunch.generator.facts import Facts, Intake, TypeFacts

# The only texts that are taken for a type besides the names in the facts' table.
_POINTER = re.compile(r"\*+[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_BLOCK = r"([A-Za-z_][A-Za-z0-9_]*)\[( *[0-9]+ *(?:, *[0-9]+ *)*)\]"
_DESCRIPTOR = re.compile(rf"tensordesc<{_BLOCK}(?:,[ -~]*)?>", re.ASCII)
_IM2COL = re.compile(rf"tensordesc_im2col<{_BLOCK}(?:,[ -~]*)?, *input_rank=([1-9][0-9]?)(?:,[ -~]*)?>", re.ASCII)
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
    folded: bool = False  # a constant of the kernel: taken as any argument, but no parameter

    @property
    def size(self) -> int:
        """Bytes of the parameter's slot, 0 where there is no parameter."""
        return 0 if self.folded else self.type.size


def place(path: Path) -> str:
    """`3` or, inside tuples, `3, item 0, item 1`."""
    return ", item ".join(map(str, path))


def _as_tuples(entry: Any, depth: int) -> Any:
    if not isinstance(entry, (list, tuple)):
        return entry
    if depth > _MAX_TUPLE_DEPTH:
        raise ValueError(f"tuples are nested deeper than {_MAX_TUPLE_DEPTH}")
    return tuple(_as_tuples(item, depth + 1) for item in entry)


def signature_text(entries: Iterable[Any]) -> str:
    """`*fp32, (i32, *fp16)`; a tuple of one ends in a comma."""
    return ", ".join(
        entry if isinstance(entry, str) else f"({signature_text(entry)}{',' if len(entry) == 1 else ''})"
        for entry in entries
    )


def is_descriptor(entry: Any) -> bool:
    """Whether an entry of a signature stands for a host tensor descriptor."""
    return isinstance(entry, str) and (_DESCRIPTOR.fullmatch(entry) or _IM2COL.fullmatch(entry)) is not None


def check(spec: LauncherSpec) -> Facts:
    """The facts of the spec's dialect, once everything but the types is known to be sound.

    Raises UnknownDialectError, ValueError.
    """
    found = facts(spec.dialect)
    if not isinstance(spec.signature, tuple):
        raise ValueError(f"a signature is a tuple of types, not {type(spec.signature).__name__}")
    if spec.constants and not found.folds_constants:
        raise ValueError(f"{found.dialect} folds no constants")
    entries = range(len(spec.signature))
    constants: tuple[object, ...] = spec.constants
    for constant in constants:
        if not isinstance(constant, int) or isinstance(constant, bool) or constant not in entries:
            raise ValueError(f"constants are indices of the {len(entries)} arguments, not {str(constant)[:80]}")
    size: object = spec.warp_size
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= _MAX_WARP_SIZE:
        raise ValueError(f"warp_size must be an int from 1 to {_MAX_WARP_SIZE}, not {str(size)[:80]}")
    if spec.tensordesc_meta and not found.descriptor.metadata:
        raise ValueError(f"{found.dialect} takes no descriptor metadata")
    return found


def expand(spec: LauncherSpec) -> tuple[Any, ...]:
    """The signature after expansion of descriptors; still nested, constexpr kept.

    Raises UnknownType (for descriptors inside tuples too where the dialect expands none there), UnknownDialectError,
    ValueError, and, as released launchers do, a bare AssertionError where the descriptor metadata has another number
    of entries than the signature has descriptors.
    """
    return Expansion(check(spec), spec.tensordesc_meta or None).expand(spec.signature)


class Expansion:
    """One signature being expanded: counts its descriptors."""

    def __init__(self, found: Facts, meta: tuple[Any, ...] | None) -> None:
        self._facts = found
        self._meta = meta
        self._descriptors = 0

    def expand(self, signature: tuple[Any, ...]) -> tuple[Any, ...]:
        """The whole expanded signature. Raises as the function `expand`."""
        entries = self._entries(signature, ())
        if self._meta is not None and self._descriptors != len(self._meta):
            raise AssertionError
        return tuple(entries)

    def _entries(self, signature: tuple[Any, ...], path: Path) -> list[Any]:
        entries: list[Any] = []
        for index, entry in enumerate(signature):
            place_of = (*path, index)
            if isinstance(entry, tuple):
                if not self._facts.tuples:
                    raise UnknownType(f"({signature_text(entry)})", place_of, self._facts.dialect)
                entries.append(tuple(self._entries(entry, place_of)))
            elif not isinstance(entry, str):
                kind = type(entry).__name__
                raise ValueError(f"argument {place(place_of)} must be a type or a tuple of types, not {kind}")
            elif entry in self._facts.types or _POINTER.fullmatch(entry):
                entries.append(entry)
            else:
                entries += self._descriptor(entry, place_of)
        return entries

    def _descriptor(self, entry: str, path: Path) -> list[str]:
        rules = self._facts.descriptor
        match = _DESCRIPTOR.fullmatch(entry)
        image = _IM2COL.fullmatch(entry) if rules.im2col else None
        found = match or image
        if found is None or not rules.expanded or (len(path) > 1 and not rules.inside_tuples):
            raise UnknownType(entry, path, self._facts.dialect)
        rank = int(image[3]) if image else found[2].count(",") + 1
        described = self._described()
        self._descriptors += 1
        tail = ["i32"] * rank + ["i64"] * rank
        if described:
            return [rules.name, *tail]
        return ["*" + found[1], *["i64"] * (2 * rank), *rules.padding, *tail]

    def _described(self) -> bool:
        """Whether the next descriptor has metadata."""
        if self._meta is None or self._facts.descriptor.one_flag:
            return self._meta is not None
        return self._descriptors < len(self._meta) and self._meta[self._descriptors] is not None


def type_facts(found: Facts, entry: str) -> TypeFacts:
    """The facts of one type of an expanded signature."""
    if entry.startswith("*"):
        return found.pointer
    source = found.descriptor.source
    if entry == found.descriptor.name and source is not None:
        return TypeFacts("PyObject *", "O", source.c_type, source.size, Intake.DESCRIPTOR)
    return found.types[entry]


def leaves(found: Facts, expanded: tuple[Any, ...], constants: tuple[int, ...] = ()) -> list[Leaf]:
    """An expanded signature depth first, left to right. `constants` are indices of its entries."""
    return [
        Leaf(index, type_facts(found, entry), index in constants) for index, entry in enumerate(flat_types(expanded))
    ]


def flat_types(entries: tuple[Any, ...]) -> Iterator[str]:
    """The types of an expanded signature, depth first, left to right."""
    for entry in entries:
        if isinstance(entry, tuple):
            yield from flat_types(entry)
        else:
            yield entry


def slots(spec: LauncherSpec) -> list[int]:
    """Bytes of every kernel parameter in order, hidden ones last. Raises as `expand`."""
    found = check(spec)
    own = [leaf.size for leaf in leaves(found, expand(spec), spec.constants) if leaf.size]
    return own + [hidden.size for hidden in found.hidden]
