"""Copies of the project that are built and tested on their own: sources, build folder, Python environment, caches.

The first copy is configured and built as usual, then made movable: CMake writes absolute paths into `build.ninja`, and
with relative ones a copy of the folder is as well built as the original. So the others begin with every object there.
"""

from __future__ import annotations

import filecmp
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# As pyproject.toml has it: folders that are subpackages of relaunch. (tomllib came with Python 3.11.)
_SUBPACKAGE = re.compile(r'"relaunch/(\w+)" = "(\w+)"')
DIFFERENTIAL = "differential"  # the one with built parts inside
# What is no source. git is not asked: a copy may be made where there is none.
_LEFT_OUT = {"build", "dist", "shared", "relaunch-faults"}
_NO_SOURCE = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info")

CORE, NATIVE, RECORDERS, UNIT = "_core", "_native", "recorders", "unit"
TARGETS: Mapping[str, Sequence[str]] = {
    CORE: ["_core"],
    NATIVE: ["_native"],
    RECORDERS: ["relaunch_recorder_cuda", "relaunch_recorder_hip"],
    UNIT: ["relaunch_unit_tests"],
}
_LONG_AGO = 1_000_000_000  # seconds: byte code knows the time of its source to one
UNIT_PROGRAM = Path("tests/unit/relaunch_unit_tests")  # in the build folder

# Asked of the Python that runs the tests: where it finds packages, and what of relaunch it has built.
_QUESTION = """
import json, os, sys, sysconfig
from relaunch import _core
from relaunch.differential import _native
folders = [os.path.abspath(p) for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages")]
print(json.dumps({"folders": folders, "_core": _core.__file__, "_native": _native.__file__}))
"""

# Found before the folder in which a process runs, as an editable install is.
_FINDER = """
import sys
from importlib.machinery import PathFinder
from pathlib import Path


class RelaunchFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [str(Path(__file__).parent)]) if name == "relaunch" else None


sys.meta_path.insert(0, RelaunchFinder)
"""


class CopyError(RuntimeError):
    """A copy that cannot be made or built; the text says what failed and ends with what the tool wrote."""


@dataclass(frozen=True)
class Interpreter:
    """A Python in which relaunch is installed."""

    path: str
    folders: tuple[Path, ...]  # of packages
    built: Mapping[str, Path]  # _core, _native and recorders, as they are installed

    @classmethod
    def ask(cls, path: str, root: Path) -> Interpreter:
        """CopyError where relaunch is not installed there."""
        done = subprocess.run([path, "-c", _QUESTION], cwd=root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CopyError(f"{path}: relaunch is not installed there: {done.stderr[-2000:]}")
        told: dict[str, Any] = json.loads(done.stdout)
        core = Path(told[CORE])
        recorders = core.parent / "differential" / "recorder_drivers"
        built = {CORE: core, NATIVE: Path(told[NATIVE]), RECORDERS: recorders}
        return cls(path, tuple(map(Path, told["folders"])), built)


def run(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """What a command wrote. CopyError where it fails."""
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        words = " ".join(map(str, command))
        raise CopyError(f"{words}\nin {folder}: exit status {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def source_files(root: Path) -> Iterator[Path]:
    """Every file of a project folder that is no product of it, relative to it."""
    for top in sorted(root.iterdir()):
        if top.name.startswith(".") or top.name in _LEFT_OUT:
            continue
        if not top.is_dir():
            yield top.relative_to(root)
            continue
        for folder, folders, names in os.walk(top):
            ignored = _NO_SOURCE(folder, [*folders, *names])
            folders[:] = [name for name in folders if name not in ignored]
            yield from (Path(folder, name).relative_to(root) for name in names if name not in ignored)


class Copy:
    """One copy, at `folder`."""

    def __init__(self, folder: Path, python: Interpreter) -> None:
        self.folder = folder
        self.build_folder = folder / "build"
        self.python = python
        self._writes = 0
        self._stale: set[str] = set()  # parts that hold a fault whose source is restored

    def refresh(self, root: Path) -> None:
        """Bring the sources up to date with those of `root`; what has not changed keeps its time."""
        wanted = set(source_files(root))
        if self.folder.exists():
            for path in set(source_files(self.folder)) - wanted:
                (self.folder / path).unlink()
        for path in wanted:
            target = self.folder / path
            if not target.exists() or not filecmp.cmp(root / path, target, shallow=False):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / path, target)

    def configure(self, with_tests: bool) -> None:
        """Prepare the build, with relative paths."""
        options = {
            "CMAKE_BUILD_TYPE": "Debug",  # nothing is stripped after linking, which would need absolute paths
            "CMAKE_CXX_FLAGS_DEBUG": "-O1 -DNDEBUG",
            "CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE": "PRE_TEST",
            "RELAUNCH_BUILD_CAPI": "OFF",
            "RELAUNCH_BUILD_TESTS": "ON" if with_tests else "OFF",
            "Python_EXECUTABLE": self.python.path,
        }
        if shutil.which("ccache"):
            options["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
        defined = [f"-D{name}={value}" for name, value in options.items()]
        run(["cmake", "-G", "Ninja", "-S", self.folder, "-B", self.build_folder, *defined], self.folder)
        rules = self.build_folder / "build.ninja"
        text = rules.read_text().replace(f"{self.build_folder}/", "").replace(str(self.build_folder), ".")
        text = text.replace(str(self.folder), "..")
        # The rule by which ninja would call CMake again, and write absolute paths.
        text = re.sub(r"^build build\.ninja[ :](?:.*\n)(?: .*\n)*", "", text, flags=re.MULTILINE)
        rules.write_text(text)

    def build(self, parts: Iterable[str], jobs: int) -> None:
        """Build some of `TARGETS`, and those in which an earlier fault was built. CopyError."""
        wanted = set(parts)
        targets = [target for part in sorted(wanted | self._stale) for target in TARGETS[part]]
        self._stale |= wanted  # until the next build, should this one stop halfway
        if targets:  # without one, ninja builds everything
            run(["ninja", f"-j{jobs}", *targets], self.build_folder)
        self._stale = wanted

    def set_up_python(self, built: Iterable[str]) -> None:
        """An environment with the packages of `python` and this copy's relaunch; what is not among `built` here is
        taken as installed there."""
        environment = self.folder / ".env"
        shutil.rmtree(environment, ignore_errors=True)
        run([self.python.path, "-m", "venv", "--without-pip", environment], self.folder)
        (packages,) = environment.glob("lib/python3*/site-packages")
        (packages / "others.pth").write_text("".join(f"{folder}\n" for folder in self.python.folders))
        (packages / "relaunch_finder.py").write_text(_FINDER)
        (packages / "relaunch.pth").write_text("import relaunch_finder\n")
        # As CMake installs them.
        for startup in sorted((self.folder / "relaunch" / "triton").glob("relaunch_startup.*")):
            (packages / startup.name).symlink_to(os.path.relpath(startup, packages))
        relaunch = packages / "relaunch"
        differential = relaunch / DIFFERENTIAL
        for source, into in ((self.folder / "relaunch", relaunch), (self.folder / DIFFERENTIAL, differential)):
            into.mkdir()
            for entry in source.iterdir():
                (into / entry.name).symlink_to(os.path.relpath(entry, into))
        for name, folder in _SUBPACKAGE.findall((self.folder / "pyproject.toml").read_text()):
            if name != DIFFERENTIAL:
                (relaunch / name).symlink_to(os.path.relpath(self.folder / folder, relaunch))
        for installed in self.python.built[NATIVE].parent.iterdir():  # libraries, beside sources of the same name
            if installed.is_dir() and (differential / installed.name).is_symlink():
                (differential / installed.name).unlink()
                (differential / installed.name).symlink_to(installed)
        ours = {
            CORE: self.build_folder / "precompiled" / "python" / self.python.built[CORE].name,
            NATIVE: self.build_folder / "differential" / self.python.built[NATIVE].name,
            RECORDERS: self.build_folder / "recorder_drivers",
        }
        places = {CORE: relaunch, NATIVE: differential, RECORDERS: differential}
        for part, folder in places.items():
            here = part in set(built)
            link = folder / ("recorder_drivers" if part == RECORDERS else self.python.built[part].name)
            link.symlink_to(os.path.relpath(ours[part], folder) if here else self.python.built[part])

    @property
    def python_path(self) -> Path:
        return self.folder / ".env" / "bin" / "python"

    def environment(self) -> dict[str, str]:
        """For processes of this copy: nothing of the user's, caches of its own but for released Tritons and what those
        compiled, which no fault can change."""
        values = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RELAUNCH_CACHE")}
        (self.folder / ".scratch").mkdir(exist_ok=True)
        values["PATH"] = f"{self.python_path.parent}{os.pathsep}{values['PATH']}"
        values["XDG_CACHE_HOME"] = str(self.folder / ".cache")
        self._share_releases()
        values["TMPDIR"] = str(self.folder / ".scratch")
        # Where HIP's headers come with Triton they are looked for beside the Python that runs.
        if not any(Path(place, "hip/hip_runtime_api.h").exists() for place in ("/usr/include", "/opt/rocm/include")):
            for folder in self.python.folders:
                if (folder / "triton/backends/amd/include/hip").is_dir():
                    values.setdefault("ROCM_PATH", str(folder / "triton/backends/amd"))
        return values

    def _share_releases(self) -> None:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        releases = user / "relaunch" / "triton"
        link = self.folder / ".cache" / "relaunch" / "triton"
        if not link.is_symlink():
            releases.mkdir(parents=True, exist_ok=True)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(releases)

    def duplicate(self, folder: Path) -> Copy:
        """Another copy, as well built as this one."""
        shutil.rmtree(folder, ignore_errors=True)
        skipped = shutil.ignore_patterns(".scratch", ".cache", "__pycache__")
        shutil.copytree(self.folder, folder, symlinks=True, ignore=skipped)
        if (self.folder / ".cache").exists():  # whose files are replaced, never changed
            shutil.copytree(self.folder / ".cache", folder / ".cache", symlinks=True, copy_function=os.link)
        return Copy(folder, self.python)

    def write(self, file: str, text: str) -> None:
        """Give a file another text, and a time that no byte code compiled from it before has."""
        path = self.folder / file
        path.write_text(text)
        if path.suffix == ".py":
            self._writes += 1
            os.utime(path, (_LONG_AGO + self._writes,) * 2)

    def tidy(self) -> None:
        """Remove what the tests of one fault left behind."""
        shutil.rmtree(self.folder / ".scratch", ignore_errors=True)


def has_gtest() -> bool:
    """Whether the C++ unit tests can be built here."""
    compiler = os.environ.get("CXX", "g++")
    probe = "#include <gtest/gtest.h>\n"
    command = [compiler, "-x", "c++", "-E", "-"]
    return subprocess.run(command, input=probe, capture_output=True, text=True, check=False).returncode == 0
