"""One module of frozen facts per dialect, named `triton_MAJOR_MINOR_BACKEND`, with a constant `FACTS`.

A module tells what its release changed: its facts are those of the release before with something replaced.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from functools import cache

from relaunch.generator.backend import own_dialects, own_facts
from relaunch.generator.facts import Facts

_NAME = re.compile(r"triton-([0-9]+\.[0-9]+)(?:\.[0-9]+)?-(cuda|hip)", re.ASCII)
_MODULE = re.compile(r"triton_([0-9]+)_([0-9]+)_(cuda|hip)", re.ASCII)


class UnknownDialectError(ValueError):
    """No facts exist for the named dialect."""


@cache
def _all_facts() -> tuple[Facts, ...]:
    """The facts of every dialect, by release, then backend."""
    found = [match for entry in pkgutil.iter_modules(__path__) if (match := _MODULE.fullmatch(entry.name))]
    found.sort(key=lambda match: (int(match[1]), int(match[2]), match[3]))
    every = []
    for match in found:
        one = importlib.import_module(f"{__name__}.{match[0]}").FACTS
        assert isinstance(one, Facts)
        assert one.dialect == f"triton-{match[1]}.{match[2]}-{match[3]}"
        every.append(one)
    return tuple(every)


@cache
def _by_release() -> Mapping[tuple[str, str], Facts]:
    return {(release, one.backend): one for one in _all_facts() for release in one.releases}


@cache
def all_dialects() -> tuple[str, ...]:
    """Names of all dialects that have facts, by release."""
    return tuple(one.dialect for one in _all_facts())


@cache
def dialects() -> tuple[str, ...]:
    """Names of the dialects whose launchers were generated, by release; the others' are native."""
    return tuple(one.dialect for one in _all_facts() if not one.native)


def facts(dialect: str) -> Facts:
    """The facts of a dialect, built in or of a registered backend. Raises UnknownDialectError."""
    return own_facts(dialect) or _built_in(dialect)


@cache
def _built_in(dialect: str) -> Facts:
    """The facts of a dialect. A patch number is accepted (`triton-3.6.0-cuda`), and so is every release that has the
    launcher of another (`triton-3.1-cuda` gives those of `triton-3.0-cuda`). Raises UnknownDialectError.
    """
    match = _NAME.fullmatch(dialect)
    found = _by_release().get((match[1], match[2])) if match else None
    if found is None:
        raise UnknownDialectError(
            f"unknown dialect {dialect[:80]!r}; known: {', '.join((*all_dialects(), *own_dialects()))}"
        )
    return found
