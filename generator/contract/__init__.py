"""The launch contract in words: what the frozen facts of a dialect mean for whoever calls, writes or watches it.

`topics` states the facts of one dialect, `layout` the parameters of one signature; `compare` puts two dialects side
by side. `python -m relaunch.generator.contract` writes the pages of docs/launch-contract.
"""

from __future__ import annotations

from relaunch.generator.contract.comparison import Comparison, Difference, compare, expanded, source_difference
from relaunch.generator.contract.layout import Parameter, layout
from relaunch.generator.contract.report import Row, Section, Sheet, page, section
from relaunch.generator.contract.topics import Statement, Topic, topics

__all__ = [
    "Comparison",
    "Difference",
    "Parameter",
    "Row",
    "Section",
    "Sheet",
    "Statement",
    "Topic",
    "compare",
    "expanded",
    "layout",
    "page",
    "section",
    "source_difference",
    "topics",
]
