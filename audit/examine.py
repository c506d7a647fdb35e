"""One unit judged: its signature read, its binaries verified, its launcher compared with the one asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from relaunch.audit import moving
from relaunch.audit.metadata import Metadata, read_metadata
from relaunch.audit.question import DIVERGES, MISFIT, MOVES, PRECOMPILED, RECOMPILE, UNREADABLE, Question
from relaunch.audit.reading import MIB, Unreadable, read
from relaunch.audit.signatures import function_name, plain, without_expansion
from relaunch.audit.walk import BINARIES, IR, METADATA, SOURCES, Unit

from relaunch import generator
from relaunch._core import (
    BinaryError,
    BindError,
    Signature,
    Tree,
    find_kernel,
    read_kernels,
    read_signatures,
    verify_kernel,
)

LIMITS = {METADATA: MIB, ".py": 16 * MIB, ".c": 16 * MIB}
LIMIT = 64 * MIB  # of all other files
BACKENDS = {"cubin": "cuda", "ptx": "cuda", "hsaco": "hip", "amdgcn": "hip"}
# What makes a source file worth reading, and the forms that are looked for in it then.
_MARKS = {
    ".py": ((b"ASTSource", b"triton.compile", b"meta"), ("ast", "inductor")),
    ".c": ((b"PyArg_",), ("c",)),
    ".mlir": ((b"func",), ("ttir",)),
}


@dataclass
class Record:
    """What is known of one kernel. `findings`: messages, each with the file that it is about, or ""."""

    key: str
    kernel: str
    outcome: str = MOVES
    dialect: str | None = None
    form: str | None = None
    signature: str | None = None
    verified: list[str] = field(default_factory=list)  # suffixes of the binaries that fit
    meets: tuple[str, ...] = ()
    findings: list[dict[str, str]] = field(default_factory=list)

    def find(self, outcome: str, message: str, file: str = "") -> None:
        """Add a finding. A proven misfit stands whatever else cannot be read."""
        self.findings.append({"file": file, "message": message})
        if self.outcome != MISFIT:
            self.outcome = outcome


def examine(root: str, unit: Unit, question: Question) -> list[Record]:
    """The kernels of a unit: one, or as many as a source file has signatures. Nothing in a file makes this raise."""
    try:
        if unit.problem:
            raise Unreadable(unit.problem)
        if unit.suffixes[0] in SOURCES:
            return _source(root, unit, question)
        return _Kernel(root, unit, question).judged()
    except Unreadable as error:
        record = Record(unit.key, unit.stem)
        record.find(UNREADABLE, str(error), error.file)
        return [record]
    except Exception as error:  # noqa: BLE001 - one kernel's surprise must not end the audit of all others
        record = Record(unit.key, unit.stem)
        record.find(UNREADABLE, f"{type(error).__name__} while it was examined: {error}")
        return [record]


def _source(root: str, unit: Unit, question: Question) -> list[Record]:
    """The signatures that stand in a source file, without a binary to verify."""
    suffix = unit.suffixes[0]
    name = unit.stem + suffix
    content = read(_path(root, unit, name), name, LIMITS.get(suffix, LIMIT))
    marks, forms = _MARKS[suffix]
    if not any(mark in content for mark in marks):
        return []
    records = []
    for signature in read_signatures(content, ""):
        if signature.form in forms:
            record = Record(unit.key + signature.source, unit.stem, form=signature.form)
            _declared(record, signature, question)
            records.append(record)
    return records


def _declared(record: Record, signature: Signature, question: Question) -> None:
    """A signature of a source file."""
    try:
        tree = _tree(signature)
        record.signature = tree.dump()
        record.dialect = Metadata().dialect(question.sources)
    except Unreadable as error:
        record.find(UNREADABLE, str(error))
        return
    _move(record, plain(tree), question, described=False)


def _path(root: str, unit: Unit, name: str) -> str:
    return f"{root}/{unit.folder}/{name}" if unit.folder else f"{root}/{name}"


def _tree(signature: Signature, file: str = "") -> Tree:
    """Raises Unreadable with the first error."""
    if signature.ok:
        return signature.tree
    error = next(found for found in signature.diagnostics if found["severity"] == "error")
    raise Unreadable(f"{error['code']} {error['message']}", file)


class _Kernel:
    """A kernel of a cache being judged."""

    def __init__(self, root: str, unit: Unit, question: Question) -> None:
        self.root = root
        self.unit = unit
        self.question = question
        self.record = Record(unit.key, unit.stem)
        self.metadata = Metadata(backend=_backend(unit.suffixes))

    def judged(self) -> list[Record]:
        """The kernel; nothing where there is only JSON, and that of something else."""
        try:
            if METADATA in self.unit.suffixes and not self._described() and len(self.unit.suffixes) == 1:
                return []
            tree = self._signature()
            self.record.signature = tree.dump()
            self.record.dialect = self.metadata.dialect(self.question.sources)
        except Unreadable as error:
            self.record.find(UNREADABLE, str(error), error.file)
            return [self.record]
        fitting = self._verify(tree)
        if self.record.outcome == MOVES:
            _move(self.record, plain(tree), self.question, described=any(self.metadata.descriptors or ()))
            self._verify_asked(tree, fitting)
        return [self.record]

    def _read(self, suffix: str) -> bytes:
        name = self.unit.stem + suffix
        return read(_path(self.root, self.unit, name), name, LIMITS.get(suffix, LIMIT))

    def _described(self) -> bool:
        """Whether the JSON is a kernel's. Raises Unreadable."""
        content = self._read(METADATA)
        try:
            found = read_metadata(content, self.unit.stem + METADATA)
        except Unreadable:
            if len(self.unit.suffixes) == 1 and b'"num_warps"' not in content:
                return False
            raise
        if found is None:
            return False
        self.metadata = found if found.backend else replace(found, backend=self.metadata.backend)
        self.record.kernel = found.name or self.unit.stem
        self.content = content
        return True

    def _signature(self) -> Tree:
        """Raises Unreadable."""
        if self.metadata.has_signature:
            return self._one_of(self.content, METADATA, "cache")
        for suffix in IR:
            if suffix in self.unit.suffixes:
                return without_expansion(self._one_of(self._read(suffix), suffix, "ttir"))
        raise Unreadable("no signature: neither its metadata has one, nor is there a .ttir or .ttgir beside it")

    def _one_of(self, content: bytes, suffix: str, form: str) -> Tree:
        """The kernel's own among the signatures of a file. Raises Unreadable."""
        file = self.unit.stem + suffix
        found = read_signatures(content, "", form)
        if len(found) > 1:
            found = [one for one in found if function_name(one.text) == self.metadata.name]
        if len(found) != 1:
            raise Unreadable("several functions, and the metadata names none of them", file)
        self.record.form = found[0].form
        return _tree(found[0], file)

    def _verify(self, tree: Tree) -> list[tuple[str, Any]]:
        """The tables of all binaries that can be read; what does not fit is found."""
        read_tables = []
        for suffix in BINARIES:
            if suffix not in self.unit.suffixes:
                continue
            file = self.unit.stem + suffix
            try:
                table = find_kernel(read_kernels(self._read(suffix)), self.metadata.name or "")
            except BinaryError as error:
                self.record.find(UNREADABLE, str(error), file)
            except Unreadable as error:
                self.record.find(UNREADABLE, str(error), error.file)
            else:
                message = self._misfit(table, tree, self.record.dialect or "")
                if message:
                    self.record.find(MISFIT, message, file)
                else:
                    self.record.verified.append(suffix[1:])
                read_tables.append((file, table))
        return read_tables

    def _misfit(self, table: Any, tree: Tree, dialect: str) -> str:
        """Why a binary does not fit a dialect's launcher; "" where it does."""
        if BACKENDS[table.format] != generator.facts(dialect).backend:
            return f"{table.format}, which {dialect} does not launch"
        described = self.metadata.descriptors
        wanted = sum(parameter.dtype is not None and parameter.dtype.startswith("tensordesc") for parameter in tree)
        if described is not None and len(described) != wanted:
            described = None  # every way to pass them is tried
        try:
            return verify_kernel(table, tree, dialect=dialect, tensordesc_meta=described or None).message
        except (BindError, AssertionError) as error:
            return str(error) or "its tensordesc_meta does not fit its descriptors"

    def _verify_asked(self, tree: Tree, tables: list[tuple[str, Any]]) -> None:
        """Whether the binaries fit another dialect's launcher too."""
        to = self.question.to
        if to in (PRECOMPILED, self.record.dialect) or self.record.outcome not in (MOVES, DIVERGES):
            return
        for file, table in tables:
            message = self._misfit(table, tree, to)
            if message:
                self.record.find(RECOMPILE, message, file)


def _backend(suffixes: tuple[str, ...]) -> str | None:
    """The one that a kernel's binaries are for; None where they do not agree, or there is none."""
    found = {BACKENDS[suffix[1:]] for suffix in suffixes if suffix in BINARIES}
    return found.pop() if len(found) == 1 else None


def _move(record: Record, types: moving.Types, question: Question, *, described: bool) -> None:
    """Compare the launcher of a kernel's own dialect with the one asked for."""
    dialect = record.dialect or ""
    if question.to != PRECOMPILED and generator.facts(question.to).backend != generator.facts(dialect).backend:
        record.find(RECOMPILE, f"{question.to} launches no kernels of {dialect}")
        return
    try:
        record.meets = moving.meets(dialect, question.to, types, described)
    except (generator.UnknownType, ValueError, AssertionError) as error:
        record.find(MISFIT, str(error) or f"{dialect} does not take the signature")
        return
    if record.meets:
        record.outcome = DIVERGES
