"""Whole tables through both launchers: nothing differs but what the list of divergences says.

Of each dialect's tables every eighth case is run, another one in each of eight dialects; with RELAUNCH_FULL=1 each is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial

import pytest
from relaunch.differential import pool, tables
from relaunch.differential.arguments import KINDS
from relaunch.differential.case import DIALECTS, Case
from relaunch.differential.compare import difference, launched
from relaunch.differential.diff import Tally, compare_cases
from relaunch.differential.predicted import predicted

from relaunch import generator

NATIVE = [dialect for dialect in DIALECTS if dialect not in generator.dialects()]
STEP = 1 if os.environ.get("RELAUNCH_FULL") else 8


def cases_of(dialect: str) -> list[Case]:
    """The share of the tables that is run."""
    return list(tables.all_cases(dialect))[DIALECTS.index(dialect) % STEP :: STEP]


def shown(case: Case, found: str) -> str:
    return f"{case.id}: {found}: {json.dumps(case.call)}"[:600]


@pytest.mark.parametrize("dialect", generator.dialects())
def test_whole_tables_differ_in_nothing_but_what_is_listed(
    dialect: str, reported: Callable[[Tally, int], None], workers: pool.Workers
) -> None:
    cases = cases_of(dialect)
    tally = Tally(dialect, tuple(dict.fromkeys(case.signature for case in cases)))
    compare_cases(tally, cases, partial(pool.run_cases, workers=workers))
    reported(tally, 0)
    assert [shown(fault.case, fault.difference) for fault in tally.faults[:5]] == []
    assert tally.cases == len(cases)
    assert tally.launches > len(cases) / 6
    assert tally.rejections > len(cases) / 6
    assert tally.wanted > len(cases) / 20
    assert tally.nothing > 0


@pytest.mark.parametrize("dialect", NATIVE)
def test_whole_tables_of_native_dialects_do_what_is_worked_out(dialect: str, workers: pool.Workers) -> None:
    cases = cases_of(dialect)
    found = []
    launches = 0
    for case, actual in zip(cases, pool.run_cases(cases, "precompiled", workers=workers), strict=True):
        launches += launched(actual)
        differs = difference(predicted(case, generator.slots(pool.spec_of(case))), actual)
        if differs is not None:
            found.append(shown(case, differs))
    assert found[:5] == []
    assert len(cases) / 6 < launches < len(cases) * 5 / 6


def test_tables_hold_every_type_with_every_argument_and_both_ends_of_every_width() -> None:
    for bits in (8, 16, 32, 64):
        signed = {end for middle in (0, 2**bits, 2 ** (bits - 1), -(2 ** (bits - 1))) for end in (middle - 1, middle)}
        assert signed <= set(tables.INTEGERS)
    for dialect in DIALECTS:
        kinds = {kind for argument in tables.arguments(dialect) if isinstance(argument, dict) for kind in argument}
        assert kinds == set(KINDS) - {"descriptor"}  # a descriptor object is no argument of a launch: it is taken apart
        found = generator.facts(dialect)
        cases = list(tables.argument_cases(dialect))
        changed = {kind for case in cases for kind in case.signature}
        assert changed == {*found.types, "*fp32"}
        assert len({json.dumps(case.to_json()) for case in cases}) == len(cases)
        assert len(cases) == len(changed) * len(tables.arguments(dialect))
    assert len(list(tables.grid_cases("triton-3.6-cuda"))) == 9**3 * 3
    assert len(list(tables.attribute_cases("triton-3.6-cuda"))) == 5 * 6 * 7 * 2 * 2


def test_shares_of_the_tables_make_the_whole() -> None:
    """Eight dialects that have the same tables run each of their cases."""
    assert len(DIALECTS) >= 8
    assert {DIALECTS.index(dialect) % 8 for dialect in DIALECTS} == set(range(8))
