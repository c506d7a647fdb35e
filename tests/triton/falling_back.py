"""What goes to Triton's own launcher, and how that is said: one check a function, run by checking.py."""

from __future__ import annotations

import types
import warnings
from typing import Any

import triton

import relaunch.triton
from relaunch import _core
from tests.triton.checking import BACKEND, RECORDER, fresh, launcher_of, launches, original_class, refuses, run


def somebody_elses_class() -> None:
    relaunch.triton.install()
    taken = original_class()

    class Mine(taken):  # type: ignore[misc,valid-type]
        def __init__(self, src: Any, metadata: Any) -> None:
            super().__init__(src, metadata)
            self.calls = 0

        def __call__(self, *args: Any) -> None:
            self.calls += 1
            super().__call__(*args)

    triton.runtime.driver.active.launcher_cls = Mine
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel = run(fresh())
    assert ["somebody else" in str(one.message) for one in caught] == [True]
    assert launcher_of(kernel).calls == 1
    assert launches() == 1
    assert not hasattr(launcher_of(kernel), "no_such_attribute")
    (((name, reason), count),) = relaunch.triton.report().fallen_back.items()
    assert (name, count) == ("store", 1)
    assert "Mine" in reason


def another_backends_driver() -> None:
    class Launcher:
        def __init__(self, src: Any, metadata: Any) -> None: ...

        def __call__(self, *args: Any) -> None:
            RECORDER.note(b'{"call": "Launch of somebody else"}')

    driver = triton.runtime.driver.active
    driver.launcher_cls = Launcher
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        relaunch.triton.install()
        run(fresh())
        run(fresh())
    assert len(caught) == 1
    assert launches() == 2
    (((name, reason), count),) = relaunch.triton.report().fallen_back.items()
    assert (name, count) == ("store", 2)
    assert "Launcher is no launcher class of Triton's own backends" in reason
    relaunch.triton.uninstall()
    assert driver.launcher_cls is Launcher


def unknown_release() -> None:
    triton.__version__ = "9.9.0"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        relaunch.triton.install()
        run(fresh())
        run(fresh(), value=1 << 40)
    assert [one.category for one in caught] == [relaunch.triton.FallBackWarning]
    assert "Triton 9.9.0 is not known: expected 3.3 to 3.9" in str(caught[0].message)
    assert sum(relaunch.triton.report().fallen_back.values()) == 2
    assert relaunch.triton.report().taken == {}
    assert launches() == 2
    relaunch.triton.install(strict=True)
    refuses(lambda: run(fresh()), "9.9.0")
    assert launches() == 2


def unknown_launcher_class() -> None:
    names = {"cuda": "CudaLauncher", "hip": "HIPLauncher"}[BACKEND]
    original = original_class()

    def call(self: Any, *args: Any) -> None:
        assert self.preferred_cluster is None
        original.__call__(self, *args)

    changed = type(names, (original,), {"__call__": call, "preferred_cluster": None})
    type(triton.runtime.driver.active).__init__.__globals__[names] = changed
    triton.runtime.driver.active.launcher_cls = changed
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        relaunch.triton.install()
        run(fresh())
    assert "it uses" in str(caught[0].message)
    assert "preferred_cluster" in str(caught[0].message)
    assert launches() == 1


def refused_by_binding() -> None:
    """A type that no dialect has, an option in the metadata, a target of another backend."""
    kernel = run(fresh())
    made = triton.runtime.driver.active.launcher_cls
    relaunch.triton.install(strict=True)
    ours = triton.runtime.driver.active.launcher_cls
    assert ours is not made
    metadata = kernel.metadata
    target = metadata.target
    foreign = type(target)("other", target.arch, target.warp_size)
    refuses(lambda: ours(kernel.src, metadata._replace(target=foreign)), "its target is 'other'")
    fields = {**metadata._asdict(), "preferred_cluster_dims": (2, 1, 1)}
    more = types.SimpleNamespace(**fields, _fields=tuple(fields))
    refuses(lambda: ours(kernel.src, more), "its metadata has 'preferred_cluster_dims', which is not known")
    strange = types.SimpleNamespace(signature={"x": "fp7"}, constants={}, name="store", fn=kernel.src.fn)
    refuses(lambda: ours(strange, metadata), "fp7")
    wide = types.SimpleNamespace(
        signature={**kernel.src.signature, "value": "i64"}, constants={}, name=kernel.src.name, fn=kernel.src.fn
    )
    refuses(lambda: ours(wide, metadata), "does not fit its binary")
    relaunch.triton.install(strict=True, check_binary=False)
    assert isinstance(ours(wide, metadata), _core.LaunchEntry)
    assert relaunch.triton.report().unchecked == {"store": 1}
    assert "fallen back: 4 launchers of 1 kernels" in str(relaunch.triton.report())
    assert launches() == 1
