"""Memory refused at each call of the allocator in turn, while binding, launching and migrating: a MemoryError, nothing
kept, and the same call works right after. `trial.py` runs each such call in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import relaunch

HERE = Path(__file__).parent
SOME = {
    "binding": ["triton-3.0-hip", "triton-3.6-cuda"],
    "launching": ["triton-3.0-cuda", "triton-3.3-hip", "triton-3.6-cuda", "triton-3.6-hip", "triton-3.9-cuda"],
    "migrating": ["triton-3.6-cuda"],
}
if os.environ.get("RELAUNCH_FULL"):
    SOME["binding"] = SOME["launching"] = list(relaunch.DIALECTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the allocator and the extension that calls under it, compiled."""
    made = tmp_path_factory.mktemp("refusing")
    flags = ("-O1", "-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}")
    for name in ("allocator", "refusing"):
        subprocess.run(["cc", *flags, str(HERE / f"{name}.c"), "-o", str(made / f"{name}.so")], check=True)
    return made


def tried(folder: Path, kind: str, dialect: str) -> list[dict[str, Any]]:
    environment = {**os.environ, "LD_PRELOAD": str(folder / "allocator.so")}
    command = [sys.executable, str(HERE / "trial.py"), json.dumps([str(folder), kind, dialect])]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("kind", "dialect"), [(kind, one) for kind, some in SOME.items() for one in some])
def test_every_refusal_is_a_memory_error(folder: Path, kind: str, dialect: str) -> None:
    found = tried(folder, kind, dialect)
    faults = [f"{one['scenario']}, {one['source']}, {fault}" for one in found for fault in one["faults"]]
    assert faults[:20] == []
    assert sum(one["outcomes"].get("MemoryError", 0) for one in found) > 100
    assert all(any(one["calls"] for one in found if one["source"] == source) for source in ("C", "Python"))


def test_what_is_wrong_is_found(folder: Path) -> None:
    """Calls that die, keep what they take, raise something else, or do not recover, are all reported."""
    some = tried(folder, "faulty", "triton-3.6-cuda")
    found = {one["scenario"]: one for one in some if one["source"] == "Python" and not one["lasting"]}
    for scenario, fault in (
        ("dies", "died of SIGABRT"),
        ("keeps memory", "keeps blocks"),
        ("keeps a reference", "keeps references"),
        ("rewords", "raises ['TypeError', 'other words']"),
        ("never recovers", "afterwards it gives"),
    ):
        assert any(fault in one for one in found[scenario]["faults"]), (scenario, found[scenario])
    assert found["is right"]["faults"] == []
    assert found["is right"]["outcomes"]["MemoryError"] > 0
