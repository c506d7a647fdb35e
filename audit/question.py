"""What an audit asks of every kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from relaunch import generator

PRECOMPILED = "precompiled"

# From the best to the worst.
MOVES, DIVERGES, RECOMPILE, MISFIT, UNREADABLE = OUTCOMES = (
    "moves",  # as it is
    "diverges",  # its calls can meet a difference that not every call can meet
    "recompile",  # it fits its own launcher, and not the one asked for: that passes other parameters
    "misfit",  # it does not fit its own signature
    "unreadable",  # it, or what has to be known of it, cannot be read; nothing is guessed
)

MEANINGS = {
    MOVES: "as they are",
    DIVERGES: "a call can meet a wanted difference, or one between the dialects",
    RECOMPILE: "the launcher asked for passes other parameters than this binary takes",
    MISFIT: "the binary does not fit its own signature",
    UNREADABLE: "not judged: something cannot be read or is not known",
}


class QuestionError(ValueError):
    """A dialect that there is not, or two where one is meant."""


@dataclass(frozen=True)
class Question:
    """`to`: a dialect or PRECOMPILED, the precompiled launcher in each kernel's own dialect. `sources`: dialects of
    kernels that do not name their release, one of each backend at most; without one these are unreadable.
    """

    to: str = PRECOMPILED
    sources: tuple[str, ...] = ()

    @staticmethod
    def of(to: str, sources: Iterable[str] = ()) -> Question:
        """With canonical names. Raises QuestionError."""
        try:
            asked = to if to == PRECOMPILED else generator.facts(to).dialect
            found = {generator.facts(name).dialect: generator.facts(name).backend for name in sources}
        except generator.UnknownDialectError as error:
            raise QuestionError(str(error)) from None
        if len(set(found.values())) != len(found):
            raise QuestionError(f"--from names one dialect of each backend, not {' and '.join(found)}")
        return Question(asked, tuple(sorted(found)))
