"""`./run test-releases`: the programs and checks on every release, one after the other, and a table.

    python -m tests.triton.all_releases [RELEASE...]

Exit 1 where a release fails, 2 where PyPI cannot be reached.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass

from tests.triton.releases import HERE, RELEASES, ROOT, UnreachableError, folder


@dataclass(frozen=True)
class Result:
    release: str
    status: int
    passed: int
    failed: int
    seconds: float


def run(release: str) -> Result:
    """Every test of this folder on one release and both backends; its output is shown."""
    print(f"== Triton {release}", flush=True)
    more = {"TRITON_RELEASES": release, "TRITON_PROGRAMS_ON_HIP": "all", "PYTHONUNBUFFERED": "1"}
    begin = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", str(HERE)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | more, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    return Result(release, done.returncode, counts.get("passed", 0), failed, time.perf_counter() - begin)


def main() -> int:
    results = []
    for release in sys.argv[1:] or RELEASES:
        try:
            folder(release)
        except UnreachableError as error:
            print(error, file=sys.stderr)
            return 2
        results.append(run(release))
    print("| Triton | passed | failed | seconds |\n|---|---:|---:|---:|")
    for one in results:
        print(f"| {one.release} | {one.passed} | {one.failed} | {one.seconds:.0f} |")
    return int(any(one.status != 0 for one in results))


if __name__ == "__main__":
    sys.exit(main())
