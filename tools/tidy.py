"""Runs clang-tidy over the sources of one build folder, in parallel, skipping what has not changed.

A source is skipped when clang-tidy found nothing in it before with the same tool, rules, command,
contents and contents of every project header it reaches, in this checkout or another of the same
user (the memory is a folder of empty files in the user's cache). Before that, the faults of TRIAL,
each named beside it, must be what clang-tidy finds there. Exit 1 when there are findings or these
are not found, 2 without the plugin that keeps the checks to our own declarations.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = "clang-tidy-19"
PLUGIN = "own_declarations"
TRIAL = ROOT / "tests/tidy/trial.cpp"
FINDS = re.compile(r"// finds (\S+)$")
FOUND = re.compile(r"^(\S+):(\d+):\d+: error: .*\[([\w-]+),-warnings-as-errors\]$", re.MULTILINE)
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# Flags of g++ that clang does not know are no finding of ours.
EXTRA = ("-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-Wno-error")


def reached_files(source: Path) -> list[Path]:
    """The source and the project files it includes, directly or not, sorted."""
    seen: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for match in INCLUDE.findall(path.read_bytes()):
            name = match.decode()
            waiting.extend(found for found in (ROOT / name, path.parent / name) if found.is_file())
    return sorted(seen)


def locked_headers() -> bytes:
    """The versions of the locked packages whose headers are included."""
    lines = (ROOT / "requirements/dev.txt").read_bytes().splitlines()
    return b"\n".join(line for line in lines if line.startswith((b"pybind11", b"nvidia-")))


def key_of(entry: dict[str, str], base: bytes) -> str:
    """What clang-tidy's answer for one entry of the compilation database depends on."""
    digest = hashlib.sha256(base + entry["command"].replace(str(ROOT), "").encode())
    for path in reached_files(Path(entry["file"])):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def clang_tidy(build: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [TOOL, "-load", str(build / f"{PLUGIN}.so"), "--quiet", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def trial(build: Path) -> tuple[int, str]:
    """Exit status 1 where the faults of TRIAL and of its headers are not what is found there, and both lists."""
    named = {
        (path.name, number, match[1])
        for path in reached_files(TRIAL)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (match := FINDS.search(line))
    }
    done = clang_tidy(build, str(TRIAL), "--", "-std=c++20", f"-I{ROOT}")
    found = {(Path(file).name, int(line), check) for file, line, check in FOUND.findall(done.stdout)}
    if found == named:
        return 0, ""
    return 1, f"not found: {sorted(named - found)}\nnot named: {sorted(found - named)}\n{done.stdout}{done.stderr}"


def check(entry: dict[str, str], build: Path) -> tuple[int, str]:
    """Exit status and text of clang-tidy on one source."""
    extra = [f"--extra-arg={flag}" for flag in EXTRA]
    done = clang_tidy(build, "-p", str(build), *extra, entry["file"])
    lines = [line for line in done.stderr.splitlines() if "warnings generated" not in line and "Suppressed" not in line]
    return done.returncode, done.stdout + ("\n".join(lines) + "\n" if done.returncode else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="folder with compile_commands.json")
    parser.add_argument("sources", nargs="*", help="only sources whose path contains one of these")
    arguments = parser.parse_args()
    build: Path = arguments.build.resolve()
    if not (build / f"{PLUGIN}.so").exists():
        print(f"{build / PLUGIN}.so is missing: build relaunch_{PLUGIN} there (./run test tidy does)", file=sys.stderr)
        return 2
    entries = json.loads((build / "compile_commands.json").read_text())
    entries = [e for e in entries if ROOT in Path(e["file"]).parents and ROOT / "build" not in Path(e["file"]).parents]
    entries = list({e["file"]: e for e in entries}.values())  # a source of two targets is read once
    if arguments.sources:
        entries = [e for e in entries if any(part in e["file"] for part in arguments.sources)]
    version = subprocess.run([TOOL, "--version"], capture_output=True, check=True).stdout
    plugin = (ROOT / f"tools/clang/{PLUGIN}.cpp").read_bytes()
    base = version + (ROOT / ".clang-tidy").read_bytes() + plugin + locked_headers()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "relaunch" / "tidy"
    cache.mkdir(parents=True, exist_ok=True)
    status, text = trial(build)
    if status:
        print(text, flush=True)
        return status
    keys = {e["file"]: key_of(e, base) for e in entries}
    todo = [e for e in entries if not (cache / keys[e["file"]]).exists()]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        begin = time.monotonic()
        waiting = {pool.submit(check, entry, build): entry for entry in todo}
        for number, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            file = waiting[future]["file"]
            status, text = future.result()
            name = Path(file).relative_to(ROOT)
            print(f"[{number}/{len(todo)} {time.monotonic() - begin:.0f} s] {name}", flush=True)
            if status:
                failures += 1
                print(text, flush=True)
            else:
                (cache / keys[file]).touch()
    print(f"clang-tidy: {len(entries)} sources, {len(entries) - len(todo)} unchanged, {failures} with findings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
