"""One module of frozen facts per dialect, named `triton_MAJOR_MINOR_BACKEND`, with a constant `FACTS`."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache

from relaunch.generator.facts import Facts

_NAME = re.compile(r"triton-([0-9]+)\.([0-9]+)(?:\.[0-9]+)?-(cuda|hip)", re.ASCII)
_MODULE = re.compile(r"triton_([0-9]+)_([0-9]+)_(cuda|hip)", re.ASCII)


class UnknownDialectError(ValueError):
    """No facts exist for the named dialect."""


@cache
def dialects() -> tuple[str, ...]:
    """Names of all dialects that can be generated, sorted."""
    found = (_MODULE.fullmatch(entry.name) for entry in pkgutil.iter_modules(__path__))
    return tuple(sorted(f"triton-{match[1]}.{match[2]}-{match[3]}" for match in found if match))


@cache
def facts(dialect: str) -> Facts:
    """The facts of a dialect; a patch number is accepted (`triton-3.6.0-cuda`). Raises UnknownDialectError."""
    match = _NAME.fullmatch(dialect)
    name = f"triton-{match[1]}.{match[2]}-{match[3]}" if match else ""
    if match is None or name not in dialects():
        raise UnknownDialectError(f"unknown dialect {dialect[:80]!r}; known: {', '.join(dialects())}")
    module = importlib.import_module(f"{__name__}.triton_{match[1]}_{match[2]}_{match[3]}")
    found = module.FACTS
    assert isinstance(found, Facts)
    assert found.dialect == name
    return found
