"""Launchers bound to the recording drivers, and what was recorded."""

from __future__ import annotations

import gc
import json
import os
import secrets
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import hypothesis
import pytest
from relaunch.differential import pool
from relaunch.differential.recorder import Recorder

import relaunch

FRESH_SEED = "RELAUNCH_SEED"  # of the cases that are new in each run (tests/differential/test_fresh.py)
HANDLE = 0xF00
STREAM = 0x55D000001000
ERAS = ("3.0", "3.3", "3.4", "3.7")  # one release of each way to convert arguments but that of 3.5 and 3.6
DEFAULT_GRID = (2, 3, 4)

# An example may take as long as a busy machine makes it.
hypothesis.settings.register_profile("relaunch", deadline=None)
hypothesis.settings.load_profile("relaunch")


def pytest_configure() -> None:
    """Draws the run's seed. The processes that xdist starts have it from here."""
    os.environ.setdefault(FRESH_SEED, str(secrets.randbelow(2**31)))


def pytest_report_header() -> str:
    return f"fresh cases: seed {os.environ[FRESH_SEED]} ({FRESH_SEED}={os.environ[FRESH_SEED]} repeats them)"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tests of a group share what they build; where xdist does not see groups, each process would build it."""
    if not getattr(session.config.option, "loadgroup", False):
        return
    for item in session.items:
        if item.get_closest_marker("xdist_group") and "@" not in item.nodeid:
            raise pytest.UsageError(
                f"{item.nodeid}: pytest-xdist does not see its group with pytest {pytest.__version__}"
            )


def tree_of(*types: Any, names: str = "") -> relaunch.Tree:
    """A tree of type strings and tuples of them; names for the top level, separated by blanks."""

    def node(entry: Any, name: str | None = None) -> relaunch.PyKernelArg:
        if not isinstance(entry, str):
            return relaunch.PyKernelArg(tuple(map(node, entry)), relaunch.ARG_TUPLE, name=name)
        if entry == "constexpr":
            return relaunch.PyKernelArg(type=relaunch.ARG_CONSTEXPR, name=name)
        return relaunch.PyKernelArg(dtype=entry, name=name)

    named: list[str | None] = [*names.split()] or [None] * len(types)
    return relaunch.Tree([node(entry, name) for entry, name in zip(types, named, strict=True)])


@dataclass
class Driver:
    """One recording driver, emptied before each test."""

    backend: str
    recorder: Recorder
    release: str = "3.6"
    hidden: int = 0  # parameters of the launcher bound last

    @property
    def dialect(self) -> str:
        return f"triton-{self.release}-{self.backend}"

    @property
    def at_least(self) -> tuple[int, ...]:
        """The release as numbers, for comparisons."""
        return tuple(map(int, self.release.split(".")))

    def metadata(self, num_warps: int = 4, num_ctas: int = 1, shared: int = 0) -> tuple[int, ...]:
        """kernel_metadata in the release's form."""
        clusters = (num_ctas, 1, 1) if self.at_least < (3, 6) else ()
        return (num_warps, num_ctas, shared, *clusters)

    def bind(self, *types: Any, names: str = "", **options: Any) -> relaunch.Launcher:
        """A launcher of kernel `add` for those types. Sets the sizes of the parameters to come."""
        given: dict[str, Any] = {"function": HANDLE, "name": "add", "driver": str(self.recorder.path), **options}
        launcher = relaunch.Launcher(tree_of(*types, names=names), dialect=self.dialect, **given)
        self.hidden = sum(parameter["hidden"] for parameter in launcher.parameters)
        self.recorder.set_slots(launcher.slots)
        return launcher

    def events(self) -> list[dict[str, Any]]:
        return self.recorder.events()

    def launches(self) -> list[dict[str, Any]]:
        return [event for event in self.events() if "params" in event]

    def parameters(self) -> list[str]:
        """The bytes of the one launch there was, hidden parameters apart."""
        (launch,) = self.launches()
        return list(launch["params"][: len(launch["params"]) - self.hidden])

    def forget(self, launcher: relaunch.Launcher) -> None:
        """Empties the journal and expects launches of `launcher`."""
        self.recorder.reset()
        self.recorder.set_slots(launcher.slots)


@dataclass
class Tensor:
    """Something with data_ptr() that notes its calls."""

    answer: Any
    recorder: Recorder | None = None

    def data_ptr(self) -> Any:
        if self.recorder is not None:
            self.recorder.note(json.dumps({"intake": "data_ptr"}).encode())
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@contextmanager
def emptied_driver(backend: str, release: str = "3.6") -> Iterator[Driver]:
    made = Driver(backend, Recorder(backend), release)
    made.recorder.reset()
    yield made
    made.recorder.reset()


@pytest.fixture(params=["cuda", "hip"])
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    with emptied_driver(request.param) as made:
        yield made


@pytest.fixture
def cuda() -> Iterator[Driver]:
    with emptied_driver("cuda") as made:
        yield made


@pytest.fixture
def hip() -> Iterator[Driver]:
    with emptied_driver("hip") as made:
        yield made


def named_driver(dialect: str) -> Any:
    _, release, backend = dialect.split("-")
    return emptied_driver(backend, release)


@pytest.fixture(params=relaunch.DIALECTS)
def each(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """Every dialect's driver."""
    with named_driver(request.param) as made:
        yield made


@pytest.fixture(params=[f"triton-{release}-{backend}" for release in ERAS for backend in ("cuda", "hip")])
def era(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """The driver of one dialect per era."""
    with named_driver(request.param) as made:
        yield made


@pytest.fixture
def of() -> Iterator[Callable[[str], Driver]]:
    """Gives the emptied driver of a dialect, named without `triton-`."""
    with ExitStack() as stack:
        yield lambda dialect: stack.enter_context(named_driver(f"triton-{dialect}"))


@pytest.fixture
def tensor() -> type[Tensor]:
    return Tensor


@pytest.fixture
def tree() -> Callable[..., relaunch.Tree]:
    return tree_of


@pytest.fixture
def refused() -> Callable[..., None]:
    """Asserts the type and whole text of what a launch raises, and that nothing was launched."""

    def check(driver: Driver, call: Callable[[], Any], kind: type[BaseException], text: str) -> None:
        before = driver.launches()
        with pytest.raises(kind) as caught:
            call()
        assert type(caught.value) is kind
        assert str(caught.value) == text
        assert driver.launches() == before

    return check


@pytest.fixture
def bind(cuda: Any, hip: Any) -> Callable[..., relaunch.Launcher]:
    """A launcher of kernel `add` on the recording driver of the dialect's backend."""

    def made(dialect: str, *entries: Any, **options: Any) -> Any:
        driver = cuda if dialect.endswith("cuda") else hip
        driver.release = dialect.split("-")[1]
        return driver.bind(*entries, **options)

    return made


@pytest.fixture
def in_threads() -> Iterator[Callable[[int, Callable[[int], None]], None]]:
    """Runs `work(number)` in `count` threads at once, numbered from 1, under a short switch interval.

    What a thread raises is raised when all have ended.
    """

    def run(count: int, work: Callable[[int], None]) -> None:
        start = threading.Barrier(count)

        def begin(number: int) -> None:
            start.wait()
            work(number)

        with ThreadPoolExecutor(count) as pool:
            threads = [pool.submit(begin, number) for number in range(1, count + 1)]
        for thread in threads:
            thread.result()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield run
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def workers() -> Iterator[pool.Workers]:
    """The worker processes of a module's cases: a start of Python takes as long as hundreds of cases."""
    with pool.Workers() as made:
        yield made


@pytest.fixture(scope="module")
def only_new_objects() -> Iterator[None]:
    """The collector passes over what was there before: with thousands of collected tests each of its runs is slow."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
