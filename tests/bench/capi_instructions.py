"""Instructions per launch of the C interface at 19 arguments, next to cuLaunchKernelEx written out by hand.

    python tests/bench/capi_instructions.py [--turns N] [--build FOLDER]

Builds capi_loop.cpp against the librelaunch of a build folder (build/release) and counts under callgrind, over the
recorder in null mode: the difference of a loop of N and one of 3 N launches, so that neither start-up nor what
surrounds a loop is in the figures. Prints them, and what each is of its floor. Exit 1 when one is above 1.5.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 1.5
WAYS = {
    "floor": "cuLaunchKernelEx, attributes and array of parameters ready",
    "gathered": "cuLaunchKernelEx, attributes ready, array filled from variables",
    "pointers": "relaunch_launch, array of arguments ready",
    "packed": "relaunch_launch_packed",
    "typed": "relaunch.hpp, arguments in variables",
}
# What each way of the C interface is measured by: the hand-written call that starts from the same.
FLOORS = {"pointers": "floor", "packed": "gathered", "typed": "gathered"}


def build_loop(build: Path, folder: Path) -> Path:
    """The program, compiled and linked to the build folder's library."""
    from relaunch.commands.doctor import header_folders

    headers = [f"-I{found}" for found in header_folders("cuda") if (found / "cuda.h").exists()][:1]
    library = build / "capi"
    program = folder / "capi_loop"
    source = Path(__file__).with_name("capi_loop.cpp")
    flags = ["-std=c++20", "-O3", *headers, f"-I{ROOT / 'capi/include'}"]
    linked = [f"-L{library}", "-lrelaunch", f"-Wl,-rpath,{library}", "-ldl"]
    subprocess.run(["g++", *flags, "-o", program, source, *linked], check=True)
    return program


def per_launch(program: Path, way: str, recorder: Path, turns: int) -> float:
    """Instructions of one launch. callgrind writes what it counted at each call of relaunch_recorder_mode."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        callgrind = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}"]
        callgrind += ["--dump-before=relaunch_recorder_mode"]
        subprocess.run([*callgrind, program, way, recorder, str(turns)], check=True)
        dumps = sorted(Path(folder).iterdir(), key=lambda dump: int(dump.suffix[1:] or 0))
        texts = [dump.read_text() for dump in dumps]
    totals = [re.search(r"^totals: (\d+)", text, re.MULTILINE) for text in texts if "Trigger: --dump-before" in text]
    short, long = (int(total[1]) for total in totals[-2:] if total is not None)
    return (long - short) / (2 * turns)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1000, help="launches in the shorter loop")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="folder where capi/ was built")
    words = parser.parse_args()
    from relaunch.differential import recorder

    with tempfile.TemporaryDirectory() as folder:
        program = build_loop(words.build.resolve(), Path(folder))
        counted = {way: per_launch(program, way, recorder.path("cuda"), words.turns) for way in WAYS}
    worst = 0.0
    for way, text in WAYS.items():
        ratio = counted[way] / counted[FLOORS.get(way, way)]
        worst = max(worst, ratio)
        beside = f"  {ratio:.3f} of {FLOORS[way]}" if way in FLOORS else ""
        print(f"{way:<9}{counted[way]:6.0f} instructions{beside:<20}  {text}")
    return 1 if worst > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
