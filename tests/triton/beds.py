"""Beds as test parameters: skipped for one reason alone, that PyPI cannot be reached."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.triton.releases import ENDS, Bed, UnreachableError, folder

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


def each_bed(*backends: str) -> list[Any]:
    """A parameter for each release and backend; all tests of one bed run in one worker."""
    return [
        pytest.param(
            Bed(release, backend), id=f"{release}-{backend}", marks=pytest.mark.xdist_group(f"{release}-{backend}")
        )
        for release in RELEASES
        for backend in backends
        if backend in BACKENDS
    ]
