"""Backends that are not built in: own frozen facts, own templates, own driver. docs/backends.md tells how to write one.

A backend is registered before it is used, in every process: `load` runs the file that does so, and notes it in the
environment, where worker processes find it (`load_noted`).
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from relaunch.generator.facts import Facts

VARIABLE = "RELAUNCH_BACKENDS"
"""The files of the backends that were loaded, separated as in PATH."""

BUILT_IN = ("cuda", "hip")
TEMPLATES = ("headers.c.j2", "status.c.j2", "query.c.j2", "run.c.j2")
"""What `common.c.j2` includes from the folder named for the backend."""


class BackendError(ValueError):
    """A backend that cannot be registered; the text says what was expected."""


@dataclass(frozen=True)
class Backend:
    """What is known of one backend. `facts` are those of its dialects, each named ANY-MAJOR.MINOR-BACKEND.

    `templates` is a folder that is searched before the built-in one. `recorder` is a recording driver: a shared library
    with the driver's own symbols, those of `differential/recorder/control.h`, and the driver table, which is the
    functions that the precompiled launcher calls. `follows` says for each dialect which built-in one the precompiled
    launcher is bound as; the wanted differences of that one hold.
    """

    name: str
    facts: tuple[Facts, ...]
    templates: Path
    recorder: Path
    follows: Mapping[str, str]
    headers: Path | None = None  # folder of the driver's headers; None: launchers need none
    flags: tuple[str, ...] = ()  # for the compiler


_registered: dict[str, Backend] = {}


def register(backend: Backend) -> None:
    """Makes a backend known to this process. BackendError; registering an equal one again changes nothing."""
    if backend.name in BUILT_IN:
        raise BackendError(f"backend {backend.name!r} is built in: expected another name")
    if _registered.get(backend.name, backend) != backend:
        raise BackendError(f"there is another backend {backend.name!r}")
    missing = [name for name in TEMPLATES if not (backend.templates / backend.name / name).is_file()]
    if missing:
        raise BackendError(f"no template {backend.name}/{missing[0]} in {backend.templates}")
    followed = {_followed(backend, found) for found in backend.facts}
    if len(followed) != 1:
        raise BackendError(
            f"backend {backend.name!r} follows dialects of {len(followed)} backends: expected those of one"
        )
    _registered[backend.name] = backend


def _followed(backend: Backend, found: Facts) -> str:
    """The built-in backend whose dialect these facts follow. BackendError."""
    from relaunch.generator.dialects import dialects, facts  # here, because that module looks into this one

    parts = found.dialect.split("-")
    if found.backend != backend.name or len(parts) != 3 or parts[2] != backend.name or found.native:
        raise BackendError(
            f"{found.dialect}: expected facts of a generated launcher named ANY-MAJOR.MINOR-{backend.name}"
        )
    if parts[1] not in found.releases:
        raise BackendError(f"{found.dialect}: expected {parts[1]!r} among its releases, got {found.releases}")
    followed = backend.follows.get(found.dialect)
    if followed not in dialects():
        expected = "expected one whose launcher was generated, such as triton-3.6-hip"
        raise BackendError(f"{found.dialect} follows {followed!r}: {expected}")
    return facts(followed).backend


def registered(name: str) -> Backend | None:
    """The backend of that name, None where it is built in or unknown."""
    return _registered.get(name)


def own_dialects() -> tuple[str, ...]:
    """Names of the dialects of all registered backends."""
    return tuple(one.dialect for backend in _registered.values() for one in backend.facts)


def own_facts(dialect: str) -> Facts | None:
    """The facts of a registered backend's dialect; None for all other names."""
    every = (one for backend in _registered.values() for one in backend.facts)
    return next((one for one in every if one.dialect == dialect), None)


def own_dialect(release: str, backend: str) -> str | None:
    """The dialect of a registered backend for a release such as "1.0.0"; None where there is none."""
    known = _registered.get(backend)
    minor = ".".join(release.split(".")[:2])
    return next((one.dialect for one in known.facts if minor in one.releases), None) if known else None


def base_of(dialect: str) -> str:
    """The built-in dialect that the precompiled launcher is bound as: the dialect itself where it is built in."""
    found = own_facts(dialect)
    return dialect if found is None else _registered[found.backend].follows[dialect]


def load(path: Path) -> None:
    """Runs a Python file that registers backends, here and in every process that is started from now on.

    Raises what the file raises; OSError.
    """
    noted = [entry for entry in os.environ.get(VARIABLE, "").split(os.pathsep) if entry]
    whole = str(path.resolve())
    runpy.run_path(whole)
    if whole not in noted:
        os.environ[VARIABLE] = os.pathsep.join([*noted, whole])


def load_noted() -> None:
    """Runs the files that a process before this one has loaded."""
    for entry in os.environ.get(VARIABLE, "").split(os.pathsep):
        if entry:
            runpy.run_path(entry)
