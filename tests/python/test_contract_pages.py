"""docs/launch-contract: rendered from the facts, and true of recorded calls, generated C and the precompiled plan."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential.divergence import divergences
from relaunch.generator.contract import layout, topics, words
from relaunch.generator.contract.errors import refusals
from relaunch.generator.contract.pages import MATRIX, markdown, pages
from relaunch.generator.contract.topics import ordered_attributes

import relaunch
from relaunch import generator

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "launch-contract"
DIALECTS = generator.all_dialects()
# Not refusals of a launcher: what hooks and arguments of recorded calls raise themselves.
OWN = {"enter hook failed", "exit hook failed", "raised by the argument"}

Record = dict[str, Any]


@cache
def golden(dialect: str) -> tuple[Record, ...]:
    found = generator.facts(dialect)
    path = ROOT / "tests" / "golden" / f"triton-{found.recorded}-{found.backend}.jsonl"
    return tuple(json.loads(line) for line in path.read_text("utf-8").splitlines())


def launches(dialect: str) -> Iterator[tuple[Record, Record]]:
    """(case, launch) of every recorded call that reached the driver."""
    for case in golden(dialect):
        for event in case["expect"].get("events", ()):
            if "params" in event:
                yield case, event


def section(dialect: str, title: str) -> str:
    text = (FOLDER / f"{dialect}.md").read_text("utf-8")
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """Cells of the tables in a text, without heads and rules, and without the marks of code."""
    found = [line for line in text.splitlines() if line.startswith("|")]
    rules = {place for place, line in enumerate(found) if set(line) <= set("|-")}
    kept = [line for place, line in enumerate(found) if place not in rules and place + 1 not in rules]
    return [[cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in kept]


def test_pages_are_rendered_from_the_facts() -> None:
    rendered = pages()
    assert {path.name for path in FOLDER.iterdir()} == set(rendered) == {MATRIX, *(f"{name}.md" for name in DIALECTS)}
    for name, text in rendered.items():
        assert (FOLDER / name).read_text("utf-8") == text, (
            f"docs/launch-contract/{name} is not what the facts render to; accept the change with "
            "`python -m relaunch.generator.contract`"
        )


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("plain words", "plain words"),
        ("`a | b` | c", "`a \\| b` \\| c"),
        ("grid_x * 2 <= data_ptr()", "`grid_x` \\* 2 \\<= `data_ptr()`"),
        ("__index__; cuLaunchKernelEx", "`__index__`; `cuLaunchKernelEx`"),
    ],
)
def test_cells_are_escaped(text: str, cell: str) -> None:
    assert markdown(text) == cell


@pytest.mark.parametrize("dialect", DIALECTS)
def test_statements_have_names_of_their_own(dialect: str) -> None:
    for topic in topics(generator.facts(dialect)):
        items = [statement.item for statement in topic.statements]
        assert len(items) == len(set(items)), topic.name
        assert all(statement.text for statement in topic.statements)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_slots_are_those_of_recorded_calls(dialect: str) -> None:
    seen: dict[str, tuple[Record, list[int]]] = {}
    for case in golden(dialect):
        key = json.dumps([case["signature"], case.get("constants", [])])
        seen.setdefault(key, (case, case["expect"]["slots"]))
    for case, slots in seen.values():
        spec = generator.LauncherSpec(dialect, tuple(case["signature"]), tuple(case.get("constants", ())))
        parameters = layout(spec)
        assert [one.slot for one in parameters] == slots, case["id"]
        hidden = [one.type for one in parameters if one.hidden]
        assert hidden == [one.name for one in generator.facts(dialect).hidden]


@pytest.mark.parametrize("dialect", generator.dialects())
def test_call_order_is_that_of_the_generated_source(dialect: str) -> None:
    source = generator.render(generator.LauncherSpec(dialect, ("i16",)))
    stated = [row for row in rows(section(dialect, "How to call")) if row[0].isdigit()]
    parsed = re.search(r'PyArg_ParseTuple\(args, "([^"]*)", ([^)]*)\)', source)
    assert parsed is not None
    assert parsed[1] == "".join(row[2] for row in stated) + "h"
    assert [name.strip(" &") for name in parsed[2].split(",")][:-1] == [row[1] for row in stated]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_recorded_error_is_listed(dialect: str) -> None:
    """Type and text; errors raised while another was pending are anything."""
    found = generator.facts(dialect)
    listed = [
        (one.type, re.compile(re.sub(r"\\{.*?\\}", ".+", re.escape(text))))
        for one in refusals(found)
        for text in one.texts
    ]
    unknown = set()
    for case in golden(dialect):
        error = case["expect"].get("error")
        if error is None or error["text"] in OWN or case["expect"].get("pending"):
            continue
        if found.native and miscounted(case["signature"], case["call"]["args"]):
            continue  # read out of bounds
        if not any(kind == error["type"] and text.fullmatch(error["text"]) for kind, text in listed):
            unknown.add((error["type"], error["text"]))
    assert unknown == set()


def miscounted(types: list[Any], arguments: list[Any]) -> bool:
    """Whether there are too few or too many arguments, or items of a tuple."""
    if len(types) != len(arguments):
        return True
    return any(
        isinstance(kind, list) and isinstance(argument, dict) and miscounted(kind, next(iter(argument.values())))
        for kind, argument in zip(types, arguments, strict=True)
        if not isinstance(argument, dict) or isinstance(next(iter(argument.values())), list)
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_errors_of_the_page_are_listed_whole(dialect: str) -> None:
    text = section(dialect, "Errors")
    for refusal in refusals(generator.facts(dialect)):
        for one in refusal.texts:
            assert f"`{one}`" in text
    assert {row[0] for row in rows(text)} <= {words.STEPS[step] for step in generator.facts(dialect).steps}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_attributes_are_those_of_recorded_launches(dialect: str) -> None:
    """Ids in the stated order, values as stated, each met and each set where its condition holds."""
    found = generator.facts(dialect)
    stated = [attribute for attribute, _ in ordered_attributes(found)]
    met = set()
    for case, launch in launches(dialect):
        names = dict(zip((one.name for one in found.metadata.elements), integers(case), strict=True))
        names |= {name: int(bool(case["call"].get(name))) for name in ("pdl", "cooperative")}
        way = next(way for way in found.launch.ways if not way.when or holds(way.when, names))
        assert way.function == launch["call"], case["id"]
        wanted = [
            [one.id, b"".join(words_of(word, names).to_bytes(4, "little") for word in one.words).hex()]
            for one in way.attributes
            if not one.when or holds(one.when, names)
        ]
        assert launch["attributes"] == wanted, case["id"]
        met |= {number for number, _ in wanted}
    assert met == {one.id for one in stated}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_grid_block_and_gil_are_those_of_recorded_launches(dialect: str) -> None:
    rules = generator.facts(dialect).launch
    for case, launch in launches(dialect):
        names = dict(zip((one.name for one in generator.facts(dialect).metadata.elements), integers(case), strict=True))
        grid = [integer(dim) % 2**32 for dim in case["call"]["grid"]]
        if not rules.scaled or holds(rules.scaled, names):
            grid = [dim * words_of(word, names) % 2**32 for dim, word in zip(grid, rules.factors, strict=True)]
        warp = 32 if rules.warp_size == "32" else case["call"]["warp_size"]
        assert [dim % 2**32 for dim in launch["grid"]] == grid, case["id"]
        assert launch["block"] == [names["num_warps"] * warp % 2**32, 1, 1], case["id"]
        assert launch["shared"] == names["shared"], case["id"]
        assert launch["gil_held"] == (not rules.gil_released), case["id"]


def integer(value: Any) -> int:
    return value if isinstance(value, int) else int(value["index"])


def integers(case: Record) -> list[int]:
    given = case["call"]["metadata"]
    if isinstance(given, dict):
        given = next(iter(given.values()))
    return [integer(value) for value in given]


def words_of(word: str, names: dict[str, int]) -> int:
    return names[word] if word in names else int(word)


def holds(condition: str, names: dict[str, int]) -> bool:
    """A condition of the facts: comparisons of a name with a number, joined by &&."""
    compare = {"==": int.__eq__, "!=": int.__ne__, ">": int.__gt__}
    parts = [part.split() for part in condition.split(" && ")]
    return all(bool(compare[sign](names[name], int(number))) for name, sign, number in parts)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_hooks_and_pointers_come_in_the_stated_order(dialect: str) -> None:
    for case, _ in launches(dialect):
        kinds = [
            event.get("hook", "intake" if "intake" in event else event.get("call"))
            for event in case["expect"]["events"]
        ]
        launch = next(place for place, event in enumerate(case["expect"]["events"]) if "params" in event)
        assert "intake" not in kinds[launch:], case["id"]
        if "enter" in kinds and "intake" in kinds:
            assert kinds.index("enter") < kinds.index("intake"), case["id"]
        if "exit" in kinds:
            assert kinds.index("exit") > launch, case["id"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_faults_name_the_divergences_that_mend_them(dialect: str) -> None:
    found = generator.facts(dialect)
    named = {name for fault in found.faults for name in words.mended(found, fault)}
    entries = [entry for entry in divergences() if dialect in entry.dialects]
    listed = {entry.id for entry in entries}
    assert named <= listed
    # No fault: a tensor taken by DLPack is not asked for its address.
    assert all(entry.title.endswith("dlpack-trusted") for entry in entries if entry.id not in named)
    text = section(dialect, "Known faults")
    assert [row[0] for row in rows(text)] == [fault.name for fault in found.faults]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_layout_is_that_of_the_precompiled_plan(dialect: str) -> None:
    """Slots, sizes, alignments and offsets; the two are worked out from tables of their own."""
    texts = ["i1, *fp32, i16, u64, fp16, bf16, fp32, fp64, u1, i8, u8, u16, i32, u32, i64"]
    found = generator.facts(dialect)
    texts += ["(i8, (*i64, i1)), i32"] if found.tuples else []
    texts += ["tensordesc<fp16[64, 64]>, i8"] if found.descriptor.expanded else []
    texts += ["i8, nvTmaDesc, i8"] if "nvTmaDesc" in found.types else []
    for text in texts:
        tree = relaunch.parse(text)
        plan = relaunch.Plan(tree, dialect=dialect)
        ours = [(one["slot_size"], one["size"], one["alignment"], one["offset"]) for one in plan.parameters]
        spec = generator.LauncherSpec(dialect, plain(tree))
        assert [(one.slot, one.size, one.alignment, one.offset) for one in layout(spec)] == ours, text


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if generator.facts(name).descriptor.metadata])
def test_layout_of_descriptors_by_value_is_that_of_the_precompiled_plan(dialect: str) -> None:
    meta = {"swizzle": 0, "elem_size": 2, "elem_type": 6, "block_size": [64, 64], "fp4_padded": False}
    text = "i8, tensordesc<fp16[64, 64]>, i8"
    plan = relaunch.Plan(text, dialect=dialect, tensordesc_meta=[meta])
    ours = [(one["slot_size"], one["size"], one["alignment"], one["offset"]) for one in plan.parameters]
    spec = generator.LauncherSpec(dialect, ("i8", "tensordesc<fp16[64, 64]>", "i8"), tensordesc_meta=(meta,))
    assert [(one.slot, one.size, one.alignment, one.offset) for one in layout(spec)] == ours


def plain(entries: Any) -> tuple[Any, ...]:
    return tuple(plain(entry.nested_tuple) if entry.type == relaunch.ARG_TUPLE else entry.dtype for entry in entries)
