"""Runs the fuzz targets of one build folder for some seconds each, on seeds from real files.

A target is a program NAME of tests/fuzz/NAME.cpp, whose head has a line `// Seeds: PATTERN` (files, by a pattern from
the root of the repository). What a target finds on its way is kept in the build folder and used by the next run. An
input that fails is written to the folder's `faults/`; exit 1 where there is one.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEEDS = re.compile(r"^// Seeds: (\S+)$", re.MULTILINE)
LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-max_len=65536", "-print_final_stats=1")


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


def fuzz(source: Path, build: Path, limit: str) -> bool:
    """Run one target; whether it found nothing."""
    name = source.stem
    work = build / "fuzz" / name
    seeds = collect_seeds(source, work / "seeds")
    if seeds == 0:
        raise SystemExit(f"{source.name}: its pattern of seeds matches no file")
    found, faults = work / "found", build / "faults"
    found.mkdir(parents=True, exist_ok=True)
    faults.mkdir(exist_ok=True)
    limits = (limit, f"-artifact_prefix={faults}/{name}-", *LIMITS)
    command: list[str | Path] = [build / "tests/fuzz" / name, found, work / "seeds", *limits]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    if done.returncode == 0 and runs is not None:
        print(f"{name}: {int(runs[1]):,} inputs from {seeds} seeds, no fault", flush=True)
        return True
    print(f"{name}: status {done.returncode}\n{done.stderr[-6000:]}", flush=True)
    return False


def main() -> int:
    """Run all targets, or those whose names contain one of the given words."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="folder of the preset fuzz, built")
    parser.add_argument("names", nargs="*", help="only targets whose names contain one of these")
    parser.add_argument("--seconds", type=int, default=3, help="for each target")
    parser.add_argument("--runs", type=int, help="this many inputs for each, however long that takes")
    arguments = parser.parse_intermixed_args()
    limit = f"-runs={arguments.runs}" if arguments.runs else f"-max_total_time={arguments.seconds}"
    sources = sorted((ROOT / "tests/fuzz").glob("*_fuzz.cpp"))
    if arguments.names:
        sources = [source for source in sources if any(word in source.stem for word in arguments.names)]
    if not sources:
        raise SystemExit("no fuzz target has such a name")
    clean = [fuzz(source, arguments.build.resolve(), limit) for source in sources]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
