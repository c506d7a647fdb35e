"""Runs the fuzz targets of one build folder for some seconds each, on seeds from real files.

A target is a program NAME of tests/fuzz/NAME.cpp, whose head has a line `// Seeds: PATTERN` (files, by a pattern from
the root of the repository). What a target finds on its way is kept in the build folder and used by the next run. An
input that fails is written to the folder's `faults/`; exit 1 where there is one.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEEDS = re.compile(r"^// Seeds: (\S+)$", re.MULTILINE)
LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1")
# Inputs for coverage alone: weighing rare features and rereading folders take a fifth of the time.
SEARCH = ("-entropic=0", "-reload=0", "-reduce_inputs=0")
# AddressSanitizer's search for uses of a returned function's variables takes 40 % of a run; the unit tests have it.
SANITIZER = {"ASAN_OPTIONS": "detect_stack_use_after_return=0:quarantine_size_mb=16:malloc_context_size=4"}


def collect_seeds(source: Path, folder: Path) -> int:
    """Copy the target's seeds into a folder of its own; how many there are."""
    pattern = SEEDS.search(source.read_text())
    if pattern is None:
        raise SystemExit(f"{source.name}: no line '// Seeds: PATTERN'")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = sorted(path for path in ROOT.glob(pattern[1]) if path.is_file())
    for number, path in enumerate(files):
        shutil.copyfile(path, folder / f"{number}-{path.name}")
    return len(files)


@dataclass(frozen=True)
class Limits:
    """How long each target runs, and in how many processes."""

    seconds: int
    runs: int | None  # of all processes of a target together; None: by time alone
    processes: int
    longest: int  # bytes of an input

    def options(self) -> tuple[str, ...]:
        options = [f"-max_len={self.longest}"]
        if self.seconds:
            options.append(f"-max_total_time={self.seconds}")
        if self.runs is not None:
            options.append(f"-runs={-(-self.runs // self.processes)}")
        return tuple(options)


@dataclass(frozen=True)
class Share:
    """What one process does of a target: all of it, or one of several that each begin with another random seed."""

    name: str
    number: int
    of: int
    command: tuple[str | Path, ...]

    def run(self) -> tuple[int, str]:
        """How many inputs were tried, and what went wrong; empty where nothing did."""
        done = subprocess.run(
            self.command, capture_output=True, text=True, errors="replace", check=False, env=SANITIZER | os.environ
        )
        runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
        if done.returncode == 0 and runs is not None:
            return int(runs[1]), ""
        return 0, f"status {done.returncode}\n{done.stderr[-6000:]}"


def shares(source: Path, build: Path, limits: Limits) -> Iterator[Share]:
    """The processes of one target, their folders made."""
    name = source.stem
    work = build / "fuzz" / name
    if collect_seeds(source, work / "seeds") == 0:
        raise SystemExit(f"{source.name}: its pattern of seeds matches no file")
    faults = build / "faults"
    faults.mkdir(exist_ok=True)
    for number in range(limits.processes):
        found = work / ("found" if number == 0 else f"found-{number}")
        found.mkdir(parents=True, exist_ok=True)
        options = (*limits.options(), f"-artifact_prefix={faults}/{name}-", *LIMITS, *SEARCH)
        command: tuple[str | Path, ...] = (build / "tests/fuzz" / name, found, work / "seeds", *options)
        yield Share(name, number + 1, limits.processes, command)


def fuzz(sources: list[Path], build: Path, limits: Limits, jobs: int) -> bool:
    """Run targets, `jobs` processes at a time, and say what came of each; whether none found a fault."""
    work = [share for source in sources for share in shares(source, build, limits)]
    tried = dict.fromkeys((source.stem for source in sources), 0)
    waiting = dict.fromkeys(tried, limits.processes)
    faulty: set[str] = set()
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(share.run): share for share in work}
        for done in as_completed(running):
            share = running[done]
            runs, wrong = done.result()
            tried[share.name] += runs
            waiting[share.name] -= 1
            if wrong:
                faulty.add(share.name)
                print(f"{share.name} (process {share.number} of {share.of}): {wrong}", flush=True)
            if waiting[share.name] == 0:
                print(
                    f"{share.name}: {tried[share.name]:,} inputs, {'faults' if share.name in faulty else 'no fault'}",
                    flush=True,
                )
    return not faulty


def main() -> int:
    """Run all targets, or those whose names contain one of the given words."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="folder of the preset asan, built")
    parser.add_argument("names", nargs="*", help="only targets whose names contain one of these")
    parser.add_argument("--seconds", type=int, help="for each target; 3, or without limit where --runs is given")
    parser.add_argument("--runs", type=int, help="this many inputs for each target, however long that takes")
    parser.add_argument("--processes", type=int, default=1, help="for each target, which share its --runs")
    parser.add_argument("--longest", type=int, default=65536, help="bytes of an input at most")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time; 0 for one a core")
    arguments = parser.parse_intermixed_args()
    seconds = arguments.seconds if arguments.seconds is not None else 0 if arguments.runs else 3
    limits = Limits(seconds, arguments.runs, arguments.processes, arguments.longest)
    sources = sorted((ROOT / "tests/fuzz").glob("*_fuzz.cpp"))
    if arguments.names:
        sources = [source for source in sources if any(word in source.stem for word in arguments.names)]
    if not sources:
        raise SystemExit("no fuzz target has such a name")
    jobs = arguments.jobs or os.cpu_count() or 1
    return 0 if fuzz(sources, arguments.build.resolve(), limits, jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
