"""Every program asks the driver for the same, prints the same and ends the same with and without install()."""

from __future__ import annotations

import json
from functools import cache
from itertools import zip_longest
from typing import Any

import pytest

from tests.triton.beds import BACKENDS, RELEASES, asked_for, each_bed, made, once
from tests.triton.programs import ON_HIP, OUTCOME, PROGRAMS, Program, numbers, on_another_device, outcomes
from tests.triton.releases import Bed

DIVERGENCES = json.loads((Bed.root() / "differential" / "divergences.json").read_text())


def on_devices(backend: str, since: str, variable: str, *values: str) -> list[Any]:
    """A parameter for each release from one on and each value that makes the device another one."""
    return [
        pytest.param(*bed.values, {variable: value}, id=f"{bed.id}-{value}", marks=bed.marks)
        for bed in each_bed(backend)
        for value in values
        if numbers(bed.values[0].short) >= numbers(since)
    ]


CAPABILITY, ARCHITECTURE = "STAND_IN_CAPABILITY", "TRITON_OVERRIDE_ARCH"


def first_difference(plain: dict[str, Any], installed: dict[str, Any]) -> str:
    for part in OUTCOME:
        if plain[part] == installed[part]:
            continue
        if not isinstance(plain[part], list):
            return f"{part}: {plain[part]!r} plain, {installed[part]!r} installed"
        for number, (one, other) in enumerate(zip_longest(plain[part], installed[part])):
            if one != other:
                return f"{part}[{number}]:\nplain     {one}\ninstalled {other}"
    return ""


@pytest.fixture(scope="session")
def asked(request: pytest.FixtureRequest) -> frozenset[str]:
    """Programs that tests of this run ask for, and those that differ."""
    differing = {program.name for program in PROGRAMS if program.differs is not None}
    return frozenset(differing | {program.name for program in asked_for(request.session, "program")})


@cache
def all_outcomes(bed: Bed, names: frozenset[str]) -> Any:
    return once(f"programs-{bed.release}-{bed.backend}", lambda: outcomes(bed, names))


def both(bed: Bed, program: Program, names: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    found = all_outcomes(made(bed), names)
    return found["plain"][program.name], found["installed"][program.name]


def cases() -> list[Any]:
    found = []
    for bed in each_bed(*BACKENDS):
        chosen = [program for program in PROGRAMS if program.is_for(bed.values[0])]
        found += [pytest.param(*bed.values, one, id=f"{bed.id}-{one.name}", marks=bed.marks) for one in chosen]
    return found


@pytest.mark.parametrize(("bed", "program"), cases())
def test_program(bed: Bed, program: Program, asked: frozenset[str]) -> None:
    plain, installed = both(bed, program, asked)
    assert plain["error"] is None, "a program of ours does not run"
    assert plain["events"] or plain["printed"]
    if not program.may_differ(bed):
        assert first_difference(plain, installed) == ""


@pytest.mark.parametrize(("bed", "program"), cases())
def test_taken(bed: Bed, program: Program, asked: frozenset[str]) -> None:
    """Every kernel is taken and compared with its binary, unless the program's purpose is another."""
    _, installed = both(bed, program, asked)
    report = installed["report"]
    reasons = {one["reason"] for one in report["fallen_back"]}
    if program.falls_back is None:
        assert reasons == set()
        assert report["taken"] or not any("Launch" in event.get("call", "") for event in installed["events"])
    else:
        assert len(reasons) == 1
        assert program.falls_back in reasons.pop()
    assert report["unchecked"] == {}


@pytest.mark.parametrize("bed", each_bed(*BACKENDS))
def test_number_of_programs(bed: Bed) -> None:
    """Enough of them run on each release to mean something."""
    enough = 40 if bed.backend == "cuda" else min(10, len(ON_HIP))
    assert sum(program.is_for(bed) for program in PROGRAMS) >= enough
    assert len(PROGRAMS) >= 50
    assert set(RELEASES)


@pytest.mark.parametrize("bed", each_bed(*BACKENDS))
def test_listed_differences(bed: Bed, asked: frozenset[str]) -> None:
    """A program that differs does so by a divergence that is listed, and does not where that is not for its release."""
    names = {one["title"] for one in DIVERGENCES}
    for program in PROGRAMS:
        if program.differs is None or not program.is_for(bed):
            continue
        assert program.divergence in names
        plain, installed = both(bed, program, asked)
        assert (first_difference(plain, installed) != "") is program.may_differ(bed)


@pytest.mark.parametrize(
    ("bed", "device"), on_devices("cuda", "3.3", CAPABILITY, "8.0") + on_devices("hip", "3.8", ARCHITECTURE, "gfx1250")
)
def test_descriptors_elsewhere(bed: Bed, device: dict[str, str]) -> None:
    """Where the copy engine takes no descriptors they are taken apart; HIP's own are made by Triton alone, from 3.8 on:
    for 3.6 lld 19 does not link them, and 3.7 does not compile them.
    """
    names = ("persistent_matmul", "descriptors_in_tuples", "descriptor_shapes", "vector_add")
    found = on_another_device(made(bed), names, **device)
    assert found["plain"].keys() == found["installed"].keys() >= {"vector_add"}
    for name, plain in found["plain"].items():
        installed = found["installed"][name]
        assert plain["error"] is None
        assert plain["events"]
        assert first_difference(plain, installed) == "", name
        assert (installed["report"]["fallen_back"], installed["report"]["unchecked"]) == ([], {}), name
    maps = [event for one in found["installed"].values() for event in one["events"] if "TensorMap" in event["call"]]
    assert maps == []


@pytest.mark.parametrize(
    ("bed", "device"),
    on_devices("cuda", "3.4", CAPABILITY, "9.0", "10.0") + on_devices("hip", "3.7", ARCHITECTURE, "gfx1250"),
)
def test_specialised_warps(bed: Bed, device: dict[str, str]) -> None:
    """A block has the warps that compiling gave it, which are more than the four that were asked for."""
    names = ("gluon_warp_specialised",) if bed.backend == "hip" else ("gluon_warp_specialised", "warp_specialised")
    found = on_another_device(made(bed), names, **device)
    assert len(found["plain"]) == len(names) - (bed.short == "3.4")  # whose Gluon gives every partition the same
    for name, plain in found["plain"].items():
        installed = found["installed"][name]
        assert plain["error"] is None
        assert first_difference(plain, installed) == "", name
        assert (installed["report"]["fallen_back"], installed["report"]["unchecked"]) == ([], {})
        assert sum(installed["report"]["taken"].values()) == 1
        warps = int(plain["printed"][0].removesuffix(" warps"))
        (launch,) = (event for event in installed["events"] if "Launch" in event["call"])
        assert launch["block"] == [32 * warps, 1, 1]
        assert warps in (8, 12)
