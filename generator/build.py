"""Shared objects for many launchers: few compiler calls, several at a time, cached by content, published whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from relaunch.generator.dialects import facts
from relaunch.generator.facts import Facts
from relaunch.generator.render import Rendered, render_launcher, render_unit
from relaunch.generator.signature import LauncherSpec, signature_text
from relaunch.generator.toolchain import CompileError, Toolchain, find_toolchain

# Launchers in one translation unit at most: enough to share the headers' cost, which is that of 20 launchers with -O0.
_UNIT = 256


@dataclass(frozen=True)
class Built:
    """A launcher's shared object. Others may lie in the same file; `module_name` tells this one."""

    spec: LauncherSpec
    path: Path
    module_name: str


@dataclass(frozen=True)
class Failure:
    """A launcher that the compiler refused, and what it wrote."""

    spec: LauncherSpec
    text: str


class BuildError(RuntimeError):
    """Some launchers could not be built; the others are in the cache."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self.failures = tuple(failures)
        super().__init__("\n".join(f"{describe(failure.spec)}: {failure.text}" for failure in self.failures))


@dataclass(frozen=True)
class _Wanted:
    launcher: Rendered
    path: Path


def default_cache() -> Path:
    """`$RELAUNCH_CACHE`, else `relaunch/launchers` in the user's cache folder."""
    if os.environ.get("RELAUNCH_CACHE"):
        return Path(os.environ["RELAUNCH_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "relaunch", "launchers")


def describe(spec: LauncherSpec) -> str:
    """The dialect and signature of a spec, for messages."""
    return f"{spec.dialect} ({signature_text(spec.signature)})"


def build(
    specs: Sequence[LauncherSpec],
    cache: Path,
    jobs: int = 2,
    optimize: str = "-O1",
    progress: Callable[[int, int], None] | None = None,
) -> list[Built]:
    """Builds what the cache lacks with `jobs` compiler calls at a time and gives one result per spec, in order.

    `progress` is called with (launchers settled, launchers in all), at the start and after every compiler call.
    Raises UnknownType, UnknownDialectError, ValueError before anything is compiled; ToolchainError; BuildError once
    everything that can be built has been.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    cache = Path(cache).absolute()
    launchers = [render_launcher(spec) for spec in specs]
    toolchains: dict[str, Toolchain] = {
        backend: find_toolchain(backend, optimize)
        for backend in sorted({facts(spec.dialect).backend for spec in specs})
    }
    cache.mkdir(parents=True, exist_ok=True)
    results = []
    missing: dict[Path, _Wanted] = {}
    for launcher in launchers:
        toolchain = toolchains[facts(launcher.spec.dialect).backend]
        path = cache / f"{launcher.name}.{toolchain.identity}.so"
        results.append(Built(launcher.spec, path, launcher.name))
        if not _is_whole(path):
            missing.setdefault(path, _Wanted(launcher, path))
    failures = _compile_missing(list(missing.values()), toolchains, cache, jobs, progress or _silent)
    if failures:
        raise BuildError(failures)
    return results


def _silent(_done: int, _total: int) -> None:
    pass


def _compile_missing(
    missing: list[_Wanted],
    toolchains: dict[str, Toolchain],
    cache: Path,
    jobs: int,
    progress: Callable[[int, int], None],
) -> list[Failure]:
    failures: dict[Path, Failure] = {}
    done = 0
    progress(done, len(missing))
    pool = ThreadPoolExecutor(jobs)
    try:
        pending: dict[Future[None], list[_Wanted]] = {}

        def submit(unit: list[_Wanted]) -> None:
            found = facts(unit[0].launcher.spec.dialect)
            pending[pool.submit(_compile_unit, unit, found, toolchains[found.backend], cache)] = unit

        for unit in _units(missing, jobs):
            submit(unit)
        while pending:
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                unit = pending.pop(future)
                try:
                    future.result()
                except CompileError as error:
                    if len(unit) > 1:  # whose fault it is shows when it is compiled by itself
                        half = len(unit) // 2
                        submit(unit[:half])
                        submit(unit[half:])
                        continue
                    failures[unit[0].path] = Failure(unit[0].launcher.spec, str(error))
                done += len(unit)
                progress(done, len(missing))
    finally:
        pool.shutdown(cancel_futures=True)
    return [failures[wanted.path] for wanted in missing if wanted.path in failures]


def _units(missing: list[_Wanted], jobs: int) -> list[list[_Wanted]]:
    """Translation units, each of one dialect: few, but no job has more than its share where another would be idle."""
    by_dialect: dict[str, list[_Wanted]] = {}
    for wanted in missing:
        by_dialect.setdefault(facts(wanted.launcher.spec.dialect).dialect, []).append(wanted)
    most = min(_UNIT, -(-len(missing) // jobs))
    units = []
    for group in by_dialect.values():
        size = -(-len(group) // -(-len(group) // most))
        units += [group[start : start + size] for start in range(0, len(group), size)]
    return units


def _compile_unit(unit: list[_Wanted], found: Facts, toolchain: Toolchain, cache: Path) -> None:
    source = render_unit([wanted.launcher for wanted in unit])
    with _scratch(cache) as directory:
        extra = (str(_stub(found, toolchain, cache)),) if found.module.linked else ()
        output = Path(directory, "launchers.so")
        toolchain.compile(source, output, extra)
        for wanted in unit:
            _add(output, wanted.path)


def _scratch(cache: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder of the cache for one compilation. What it leaves behind on a busy file system does no harm."""
    return tempfile.TemporaryDirectory(dir=cache, prefix=".build-", ignore_cleanup_errors=True)


def _is_whole(path: Path) -> bool:
    """Whether a shared object is there with all its bytes: its section headers, which come last, are in it."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return False
    if len(head) < 64 or head[:5] != b"\x7fELF\x02":
        return False
    start, entry, count = (int.from_bytes(head[at:end], "little") for at, end in ((40, 48), (58, 60), (60, 62)))
    return start + entry * count <= size


def _add(source: Path, target: Path) -> None:
    """Publishes an entry of the cache, unless another process has: a library that may be in use is not replaced."""
    if not _is_whole(target):
        publish(source, target)


def _stub(found: Facts, toolchain: Toolchain, cache: Path) -> Path:
    """A library with the driver's SONAME and the symbols that launchers link to, so that no driver is needed here.

    Only the linker ever sees it: at run time the name resolves to the process's driver or recorder.
    """
    target = cache / f"stub.{toolchain.identity}.{found.dialect}" / found.module.library
    if not _is_whole(target):
        source = "".join(f"void {symbol}(void);\nvoid {symbol}(void) {{}}\n" for symbol in found.module.linked)
        target.parent.mkdir(exist_ok=True)
        with _scratch(cache) as directory:
            output = Path(directory, "stub.so")
            toolchain.compile(source, output, ("-nostdlib", f"-Wl,-soname,{found.module.library}"))
            _add(output, target)
    return target


def publish(source: Path, target: Path) -> None:
    """Makes `source` appear as `target` at once: a reader sees the old file, none, or the whole new one."""
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        try:
            os.link(source, temporary)
        except OSError:  # another file system, or one without hard links
            shutil.copyfile(source, temporary)
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
