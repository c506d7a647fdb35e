"""Drawn cases say whether an entry of the divergence list may hold for them, and each is known by its number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from relaunch.differential.case import Case
from relaunch.differential.divergence import applicable
from relaunch.differential.invented import invented
from relaunch.differential.sampler import Source, rewritten

from relaunch import generator

CUDA = "triton-3.6-cuda"
SIGNATURES: list[tuple[Any, ...]] = [
    ("*i8", "i8", "fp16", "*fp32", "bf16", "u64", "i1"),
    ("*i8",),
    ("*i8", "i8", "*fp32"),
]


@pytest.mark.parametrize("dialect", generator.dialects())
def test_every_case_for_which_an_entry_of_the_list_holds_is_marked(dialect: str) -> None:
    """One without its mark would count as equal where ours lacks what the list wants."""
    signatures = [*SIGNATURES, *invented(dialect, 12, 5)]
    entry = rewritten(dialect)
    known = [] if entry is None else [entry.id]
    marked = held = plain = rewrites = 0
    for source in (Source(dialect, one, 8) for one in signatures):
        for i in range(150):
            call, listed = source.sampler.call(i)
            case = source.of_call(i, call)
            ids = applicable(case)
            assert listed or ids in ([], known), f"{case.id}: {ids}: {json.dumps(call)}"
            marked += listed
            held += listed and bool(ids)
            plain += not listed
            rewrites += not listed and bool(ids)
    assert held > 0.4 * marked, "more cases are marked than need to be judged"
    assert plain > 0.3 * (marked + plain)
    assert (rewrites > 0) == bool(known)


def test_case_of_a_number_is_the_same_however_it_is_reached() -> None:
    first, second = (Source(CUDA, ["*fp32", ["i8", "fp16"]], 3) for _ in range(2))
    numbers = [5, 4000, 17, 5]
    assert [first.case(i) for i in numbers] == [second.case(i) for i in [4000, *numbers]][1:]
    case = first.case(17)
    assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case
