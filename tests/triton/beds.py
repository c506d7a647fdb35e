"""Beds as test parameters: skipped for one reason alone, that PyPI cannot be reached."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.triton.releases import BED, ENDS, HERE, Bed, UnreachableError, folder

RELEASES = tuple(os.environ.get("TRITON_RELEASES", " ".join(ENDS)).split())
"""The two ends, or those that `./run test-releases` asks for."""
BACKENDS = tuple(os.environ.get("TRITON_BACKENDS", "cuda hip").split())


def made(bed: Bed) -> Bed:
    """The same, downloaded."""
    try:
        folder(bed.release)
    except UnreachableError as error:
        pytest.skip(str(error))
    return bed


def once(name: str, make: Callable[[], Any]) -> Any:
    """What `make` gives, as JSON, made by one worker of a test run and read by the others."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    place = BED / "outcomes" / f"{run}-{name}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            _forget_other_runs(place.parent, run)
            made = json.dumps(make())
            place.write_text(made)
    return json.loads(place.read_text())


def _forget_other_runs(folder: Path, run: str) -> None:
    """Those that began more than an hour ago."""
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another worker forgets it too
            if not path.name.startswith(run) and path.stat().st_mtime < time.time() - 3600:
                path.unlink()


def asked_for(session: pytest.Session, name: str) -> frozenset[Any]:
    """What the tests of this folder that a run has chosen are given as the parameter of that name."""
    mine = (item for item in session.items if HERE in item.path.parents)
    params = [each.params for item in mine if (each := getattr(item, "callspec", None))]
    return frozenset(one[name] for one in params if name in one)


def each_bed(*backends: str) -> list[Any]:
    """A parameter for each release and backend. One worker has all its tests: another would wait for what it makes."""
    return [
        pytest.param(
            Bed(release, backend), id=f"{release}-{backend}", marks=pytest.mark.xdist_group(f"{release}-{backend}")
        )
        for release in RELEASES
        for backend in backends
        if backend in BACKENDS
    ]
