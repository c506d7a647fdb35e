"""The rows of the matrix: one short cell for each dialect."""

from __future__ import annotations

from collections.abc import Callable

from relaunch.generator.contract import words
from relaunch.generator.facts import Facts, Step, TypeFacts


def _format(found: Facts) -> str:
    return "`" + "".join(one.format for one in found.prefix) + "`"


def _metadata(found: Facts) -> str:
    return "`" + "i" * len(found.metadata.elements) + "`" + (", any sequence" if found.metadata.any_sequence else "")


def _scalar(one: TypeFacts) -> str:
    read = "" if one.read is None else f", kernel reads {one.read}"
    return f"`{one.format}`, {one.size} B{read}"


def _type(name: str) -> Callable[[Facts], str]:
    return lambda found: _scalar(found.types[name])


def _accepted(name: str) -> Callable[[Facts], str]:
    return lambda found: words.accepted(found.types[name])


def _by_value(found: Facts) -> str:
    source = found.descriptor.source
    return "-" if source is None else f"`{found.descriptor.name}`, {source.size} B, `{source.member}`"


def _entries(found: Facts) -> str:
    rules = found.descriptor
    if not rules.expanded:
        return "-"
    flags = f"{len(rules.padding)} flags" if len(rules.padding) != 1 else "1 flag"
    return f"{flags}{', with metadata too' if rules.metadata else ''}{', in tuples' if rules.inside_tuples else ''}"


def _hidden(found: Facts) -> str:
    return ", ".join(one.name + (" (null)" if one.value == "NULL" else "") for one in found.hidden) or "none"


def _ways(found: Facts) -> str:
    return "; ".join(words.way(one) for one in found.launch.ways)


def _attributes(found: Facts) -> str:
    every = [attribute for way in found.launch.ways for attribute in way.attributes]
    return ", ".join(f"`{words.attribute_name(one)}`" for one in every) or "none"


def _yes(found: bool) -> str:
    return "yes" if found else "no"


def _packing(found: Facts) -> str:
    if found.native:
        return "at the argument's turn; nothing launched"
    if Step.PACKING not in found.steps:
        return "not noticed"
    return "pending, launched" if found.steps.index(Step.PACKING) > 2 else "pending through hooks and pointers"


# What a row is called, and its cell.
ASPECTS: tuple[tuple[str, Callable[[Facts], str]], ...] = (
    ("launcher", lambda found: "native" if found.native else "generated C"),
    ("positional formats", _format),
    ("kernel_metadata", _metadata),
    ("constexpr entries", lambda found: "passed, ignored" if found.takes_constexpr else "not passed"),
    ("folded constants", lambda found: "by index" if found.folds_constants else "-"),
    ("tuples", lambda found: _yes(found.tuples)),
    ("arguments counted", lambda found: _yes(not found.native)),
    ("`i1`", _type("i1")),
    ("`u1`", _type("u1")),
    ("`i8` takes", _accepted("i8")),
    ("`i32` takes", _accepted("i32")),
    ("`u32` takes", _accepted("u32")),
    ("`i64`", _type("i64")),
    ("`fp16`", _type("fp16")),
    ("`fp32`", _type("fp32")),
    ("fp16 overflow", _packing),
    ("descriptor by value", _by_value),
    ("`tensordesc<...>` entries", _entries),
    ("hidden parameters", _hidden),
    ("driver function", _ways),
    ("attributes, in order", _attributes),
    ("grid", lambda found: words.grid(found.launch)),
    ("not launched", lambda found: f"32-bit {found.launch.skipped}"),
    ("context made", lambda found: _yes(found.ensures_context)),
    ("GIL around the launch", lambda found: "released" if found.launch.gil_released else "held"),
    ("object without data_ptr", lambda found: dict(words.pointers(found))["object without data_ptr"]),
    ("data_ptr() raises", lambda found: dict(words.pointers(found))["data_ptr() raises"]),
    ("query fails otherwise", lambda found: dict(words.pointers(found))["query fails otherwise"]),
    ("hooks Triton passes", lambda found: words.hook_default(found.hooks)),
    ("exit hook after a failed launch", lambda found: _yes(found.exit_hook_after_failure)),
    ("known faults", lambda found: str(len(found.faults))),
)
