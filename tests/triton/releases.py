"""Environments of released Tritons: downloaded from PyPI when they are asked for, and kept outside the repository.

Each is a folder that goes on Python's path, with nothing installed anywhere: `PYTHONPATH=<stand-in torch>:<folder>`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from relaunch.differential import recorder

RELEASES = ("3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0", "3.9.0")
ENDS = (RELEASES[0], RELEASES[-1])
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BED = ROOT / "build" / "triton"


class UnreachableError(Exception):
    """PyPI cannot be reached; str() is what pip said."""


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "relaunch" / "triton"


def folder(release: str) -> Path:
    """The environment of a release, made now where it is not there. Raises UnreachableError."""
    cache = cache_folder()
    place = cache / f"{sys.implementation.cache_tag}-{release}"
    if place.exists():
        return place
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            partial = place.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            _download(release, partial)
            partial.rename(place)
    return place


def _download(release: str, target: Path) -> None:
    options = [
        "--no-deps",
        "--no-compile",
        "--disable-pip-version-check",
        "--root-user-action=ignore",
        "--progress-bar=off",
    ]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), f"triton=={release}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    if "connection broken by" in done.stderr or "Connection" in done.stderr:
        raise UnreachableError(f"PyPI cannot be reached: {done.stderr.strip().splitlines()[0]}")
    raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


@dataclass(frozen=True)
class Bed:
    """A release and a backend, ready to run programs without a GPU."""

    release: str
    backend: str

    @staticmethod
    def root() -> Path:
        """Of the repository."""
        return ROOT

    @property
    def short(self) -> str:
        return self.release.rpartition(".")[0]

    def environment(self, **more: str) -> dict[str, str]:
        """For a process that finds the release, the stand-in torch and the recording driver."""
        drivers = self._drivers()
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("TRITON_", "RELAUNCH_", "CC"))
        }
        own = {
            "PYTHONPATH": f"{HERE / 'stand_in'}:{folder(self.release)}",
            "LD_LIBRARY_PATH": str(drivers),
            "LIBRARY_PATH": str(drivers),  # to 3.5 Triton's C code is linked with -lcuda
            "TRITON_LIBCUDA_PATH": str(drivers),
            "TRITON_LIBHIP_PATH": str(drivers / "libamdhip64.so"),
            "TRITON_HIP_LLD_PATH": shutil.which("ld.lld-19") or "ld.lld",
            "TRITON_CACHE_DIR": str(cache_folder() / f"{sys.implementation.cache_tag}-{self.release}-kernels"),
            "TRITON_DEFAULT_FP_FUSION": "1",  # 3.9 warns of a change where it is unset
            "STAND_IN_HIP": "7.1" if self.backend == "hip" else "",
        }
        return kept | own | more

    def _drivers(self) -> Path:
        place = BED / "drivers"
        place.mkdir(parents=True, exist_ok=True)
        links = {name: recorder.path(backend) for backend, name in recorder.FILE_NAMES.items()}
        links["libcuda.so"] = links["libcuda.so.1"]
        for name, target in links.items():
            link = place / name
            if not link.is_symlink() or link.readlink() != target:
                own = place / f"{name}.{os.getpid()}"
                own.symlink_to(target)
                own.replace(link)
        return place

    def run(self, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A Python process there. Its output is not checked."""
        return self.run_with(self.environment(**environment), *args)

    @staticmethod
    def run_with(environment: dict[str, str], *args: str) -> subprocess.CompletedProcess[str]:
        """A Python process in just this environment."""
        command = [sys.executable, *args]
        return subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False
        )
