"""What the GPU received from both launchers, byte by byte, for every dialect: over 500 signatures of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from relaunch.differential.on_device import cases, released, run, worker
from relaunch.differential.on_device.run import Seen

from relaunch import generator

SIGNATURES = Path(__file__).parents[1] / "signatures/signatures.jsonl"
DRAWN = 450
CALLS = 2  # for each signature
SEED = 1
FEWEST = 500
AT_ONCE = 6  # processes on the device, which build and are judged at the same time
OF_TRITON = 96  # signatures whose launchers Triton itself generates

See = Callable[[str], Seen]


@pytest.fixture(scope="session")
def see(need_device: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[See]:
    """What came of a dialect; all are begun at once."""
    cache = tmp_path_factory.mktemp("launchers")
    given = [*cases.read(SIGNATURES), *cases.drawn(DRAWN, SEED)]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        running: dict[str, Future[Seen]] = {
            dialect: threads.submit(run.run, dialect, given, CALLS, SEED, cache) for dialect in generator.all_dialects()
        }
        yield lambda dialect: running[dialect].result()


@pytest.mark.parametrize("dialect", generator.all_dialects())
def test_the_gpu_received_what_was_recorded(dialect: str, see: See, capsys: pytest.CaptureFixture[str]) -> None:
    """HIP dialects run through the HIP runtime that carries its calls to CUDA."""
    seen = see(dialect)
    with capsys.disabled():
        print(
            f"\n{dialect}: {seen.signatures} signatures, {seen.kernels} kernels, {seen.launches} launches as recorded, "
            f"{sum(seen.divergent.values())} that differ as listed {dict(sorted(seen.divergent.items()))}",
            end="",
        )
    assert seen.faults[:5] == []
    assert seen.signatures >= FEWEST
    launchers = 1 if generator.facts(dialect).native else 2
    assert seen.launches == launchers * CALLS * seen.signatures
    # Before 3.4 legacy gives kernels half of a C float for fp16 and bf16: on a GPU that difference must show.
    floats = generator.facts(dialect).types["fp16"].size == 4
    assert bool(seen.divergent) == floats


def test_a_third_opinion(need_device: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Launchers that the installed Triton 3.6 generates itself give the same kernels the same bytes."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    drawn = [one for one in cases.drawn(DRAWN, SEED) if released.takes(one)]
    chosen = list(islice(drawn, OF_TRITON))
    job = replace(run.prepared(released.DIALECT, chosen, 4, SEED, tmp_path), triton=True)
    seen = run.judged(released.DIALECT, job, worker.run(job), tmp_path)
    assert seen.faults[:5] == []
    assert (seen.signatures, seen.released) == (OF_TRITON, 4 * OF_TRITON)
