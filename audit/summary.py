"""What a state holds, counted: one pass over its lines, none of which is kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from relaunch.audit.moving import Difference, all_differences, everywhere
from relaunch.audit.question import OUTCOMES, PRECOMPILED, RECOMPILE, Question
from relaunch.audit.state import State

from relaunch import generator

UNKNOWN = "unknown"  # in place of a dialect
SHOWN = 10  # kernels that are shown of each bad outcome


@dataclass
class Summary:
    """Counts of kernels."""

    question: Question
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)  # by dialect
    meets: Counter[tuple[str, str]] = field(default_factory=Counter)  # by dialect and id
    unverified: int = 0  # judged without a binary
    examples: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # by outcome, RECOMPILE and worse
    order: list[tuple[str, int]] = field(default_factory=list)  # key and place in the state of every kernel

    @staticmethod
    def of(state: State, question: Question) -> Summary:
        """Counts every kernel once."""
        found = Summary(question)
        for place, kernel in state.kernels():
            found.add(kernel, place)
        found.order.sort()
        return found

    def add(self, kernel: dict[str, Any], place: int) -> None:
        """One kernel."""
        outcome, dialect = kernel["outcome"], kernel["dialect"] or UNKNOWN
        self.outcomes.setdefault(dialect, Counter())[outcome] += 1
        self.meets.update((dialect, one) for one in kernel["meets"])
        self.unverified += not kernel["verified"] and outcome in OUTCOMES[:2]
        self.order.append((kernel["key"], place))
        if OUTCOMES.index(outcome) >= OUTCOMES.index(RECOMPILE):
            examples = self.examples.setdefault(outcome, [])
            if len(examples) < SHOWN:
                examples.append(kernel)

    @property
    def totals(self) -> dict[str, int]:
        """By outcome, zeros too."""
        return {outcome: sum(counts[outcome] for counts in self.outcomes.values()) for outcome in OUTCOMES}

    @property
    def kernels(self) -> int:
        """All of them."""
        return len(self.order)

    @property
    def dialects(self) -> list[str]:
        """In the order of releases, what is unknown last."""
        known = [name for name in generator.all_dialects() if name in self.outcomes]
        return known + [name for name in self.outcomes if name not in known]

    def met(self) -> list[tuple[str, Difference, int]]:
        """Dialect, difference and how many kernels can meet it, in the order of the lists of differences."""
        rows = []
        for dialect in self.dialects:
            counts = {one: count for (name, one), count in self.meets.items() if name == dialect}
            known = {one.id: one for one in self._all(dialect)} if counts else {}
            listed = [one for one in known if one in counts] + [one for one in counts if one not in known]
            rows += [(dialect, known.get(one, Difference(one, one, "", "")), counts[one]) for one in listed]
        return rows

    def everywhere(self) -> list[tuple[str, tuple[Difference, ...]]]:
        """By dialect, what every call can meet; nothing where launcher and dialect stay as they are."""
        return [
            (dialect, everywhere(dialect, self.question.to)) for dialect in self.dialects if self._compared(dialect)
        ]

    def _all(self, dialect: str) -> tuple[Difference, ...]:
        return all_differences(dialect, self.question.to) if self._compared(dialect) else ()

    def _compared(self, dialect: str) -> bool:
        """Whether there is anything to compare: one backend's kernels are not launched by another's dialect."""
        to = self.question.to
        return dialect != UNKNOWN and (
            to == PRECOMPILED or generator.facts(to).backend == generator.facts(dialect).backend
        )

    def record(self) -> dict[str, Any]:
        """The last line of `--json`."""
        return {
            "kernels": self.kernels,
            "to": self.question.to,
            "totals": self.totals,
            "dialects": {dialect: dict(self.outcomes[dialect]) for dialect in self.dialects},
            "unverified": self.unverified,
            "met": [
                {"dialect": dialect, "id": one.id, "title": one.title, "kernels": count}
                for dialect, one, count in self.met()
            ],
            "everywhere": {dialect: [one.id for one in found] for dialect, found in self.everywhere()},
        }
