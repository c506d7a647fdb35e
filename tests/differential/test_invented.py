"""Invented signatures: the same everywhere, and nothing that a dialect has is missing."""

from __future__ import annotations

import json

import pytest
from relaunch.differential.case import DIALECTS
from relaunch.differential.diff import supported
from relaunch.differential.invented import invented

from relaunch import generator


@pytest.mark.parametrize("dialect", DIALECTS)
def test_invented_signatures_hold_everything_that_a_dialect_has(dialect: str) -> None:
    found = generator.facts(dialect)
    drawn = invented(dialect, 400, 0)
    assert len(set(drawn)) == 400
    assert invented(dialect, 30, 0) == drawn[:30]
    assert invented(dialect, 30, 1) != drawn[:30]
    assert supported(dialect, drawn)[0] == drawn
    text = json.dumps(drawn)
    missing = [kind for kind in found.types if f'"{kind}"' not in text]
    assert missing == []
    assert any(json.dumps(one).count('"') > 2 * 100 for one in drawn)
    assert any(len(one) < 3 for one in drawn)
    assert any(isinstance(entry, tuple) for one in drawn for entry in one) == found.tuples
    assert ("tensordesc<" in text) == found.descriptor.expanded
