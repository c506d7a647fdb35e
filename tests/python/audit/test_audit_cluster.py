"""The same audit on a Dask cluster of several processes, one of which is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="the cluster is dask.distributed's, which is not installed")

FROM = ("--from", "triton-3.0-cuda", "--from", "triton-3.0-hip")

CLUSTER = """
import json, sys
from distributed import LocalCluster

if __name__ == "__main__":
    options = {"n_workers": 3, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(processes=True, **options) as cluster:
        print(json.dumps([cluster.scheduler_address, [nanny.pid for nanny in cluster.workers.values()]]), flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """A scheduler's address, and the processes of its three workers. The scheduler runs in their parent."""
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        address, workers = json.loads(process.stdout.readline())
        yield address, workers
        if process.poll() is None:
            process.communicate(timeout=60)


def totals(copies: int) -> dict[str, int]:
    return {"moves": 26 * copies, "diverges": 8 * copies, "recompile": 0, "misfit": 0, "unreadable": 0}


def begin(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "relaunch", "audit", *map(str, arguments), *FROM, "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[list[str], dict[str, Any]]:
    """The lines of kernels, and the summary."""
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (1, "")
    *lines, summary = output.splitlines()
    return lines, json.loads(summary)


@pytest.mark.xdist_group("large cache")
def test_a_worker_dies_on_the_way(large: Path, tmp_path: Path, cluster: tuple[str, list[int]]) -> None:
    address, workers = cluster
    state = tmp_path / "state"
    process = begin(large, "--scheduler", address, "--state", state)
    while not state.exists() or state.read_bytes().count(b"\n") < 2:
        assert process.poll() is None
        time.sleep(0.005)
    os.kill(workers[1], signal.SIGKILL)
    found = state.read_bytes().count(b"\n")
    lines, summary = ended(process)
    copies = sum(1 for _ in large.iterdir())
    assert found < 34 * copies, "it was over before the worker died"
    assert summary["totals"] == totals(copies)
    assert ended(begin(large, "--jobs", "2")) == (lines, summary)


@pytest.mark.xdist_group("large cache")
def test_the_scheduler_dies(large: Path, tmp_path: Path, cluster: tuple[str, list[int]]) -> None:
    """It is told in one line, and a run without it goes on from what was kept."""
    address, workers = cluster
    state = tmp_path / "state"
    process = begin(large, "--scheduler", address, "--state", state)
    while not state.exists() or state.read_bytes().count(b"\n") < 2:
        assert process.poll() is None
        time.sleep(0.005)
    parent = int(Path(f"/proc/{workers[0]}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (2, "")
    assert errors == "relaunch audit: the scheduler is gone; what it had found is kept in the state\n"
    summary = ended(begin(large, "--jobs", "2", "--state", state))[1]
    assert summary["totals"] == totals(sum(1 for _ in large.iterdir()))


def test_no_scheduler(cache: Path) -> None:
    process = begin(cache, "--scheduler", "tcp://127.0.0.1:9")
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (2, "")
    assert errors.startswith("relaunch audit: no Dask scheduler at tcp://127.0.0.1:9: ")
