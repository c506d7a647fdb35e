"""The program of `./run bench triton` on the recording driver, where a fall-back would end it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relaunch.commands.bench import instructions
from tests.triton.beds import each_bed, made
from tests.triton.releases import Bed

PROGRAMS = Path(__file__).parents[1] / "bench"


@pytest.mark.parametrize("bed", each_bed("cuda"))
def test_each_way_to_launch_is_measured_in_c_and_with_both_launchers(bed: Bed) -> None:
    floor = instructions.compile_shared(PROGRAMS / "device_floor.c", instructions.cuda_headers())
    done = made(bed).run(str(PROGRAMS / "triton_cost.py"), "1", str(floor))
    assert done.returncode == 0, done.stderr
    versions, *lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert versions == {"triton": bed.release, "torch": "0.0-stand-in"}
    assert len({(line["way"], line["size"], line["who"]) for line in lines}) == len(lines) == 3 * 3 * 3
    assert all(0 < line["least"] <= line["ns"] for line in lines)
