"""What install() and uninstall() do to a running program: one check a function, run by checking.py."""

from __future__ import annotations

import gc
import importlib
import sys
import threading
import warnings
import weakref
from typing import Any

import torch
import triton

import relaunch.triton
from relaunch import _core
from tests.triton.checking import (
    BACKEND,
    RECORDER,
    changes,
    fresh,
    launcher_of,
    launches,
    nothing,
    original_class,
    refuses,
    run,
    state,
    store,
)
from tests.triton.run_programs import make_driver


def leaves_no_trace() -> None:
    for backend in triton.backends.backends:  # to 3.3 they are modules of their own, which install() imports
        importlib.import_module(f"triton.backends.{backend}.driver")
    run()
    before = state()
    relaunch.triton.install()
    changed = {place[1] for place in changes(before, state())}
    assert changed == {"CudaLauncher", "HIPLauncher", "launcher_cls"}, changed
    relaunch.triton.install()
    run(value=7)
    run(fresh())
    relaunch.triton.uninstall()
    assert changes(before, state()) == set()
    relaunch.triton.uninstall()
    assert changes(before, state()) == set()
    assert not relaunch.triton.is_installed()


def kernels_before_and_after() -> None:
    before = run()
    own = launcher_of(before)
    assert type(own) is original_class()
    relaunch.triton.install()
    assert relaunch.triton.report().taken == {"store": 1}
    ours = launcher_of(before)
    assert isinstance(ours, _core.LaunchEntry)
    assert isinstance(ours, type(own))
    assert isinstance(ours.target, _core.Launcher)
    during = run(fresh())
    assert isinstance(launcher_of(during).target, _core.Launcher)
    relaunch.triton.uninstall()
    assert launcher_of(before) is own
    assert not isinstance(launcher_of(during).target, _core.Launcher)
    assert type(type(ours)(before.src, before.metadata)) is original_class()
    RECORDER.reset()
    during[(1, 1, 1)](torch.zeros(64, dtype=torch.int32, device="cuda"), 5, 64)
    ours(1, 1, 1, 0, before.function, before.packed_metadata, None, None, None, None, 5, 64)
    assert launches() == 2
    after = run(fresh())
    assert type(launcher_of(after)) is original_class()
    relaunch.triton.install()
    assert isinstance(launcher_of(during).target, _core.Launcher)
    assert isinstance(launcher_of(after).target, _core.Launcher)
    relaunch.triton.uninstall()


def drivers_made_in_between() -> None:
    with relaunch.triton.install():
        triton.runtime.driver.set_active(make_driver(BACKEND, RECORDER))
        assert isinstance(launcher_of(run(fresh())), _core.LaunchEntry)
    assert triton.runtime.driver.active.launcher_cls is original_class()
    assert not isinstance(launcher_of(run(fresh())), _core.LaunchEntry)


def a_context() -> None:
    with relaunch.triton.install():
        assert relaunch.triton.is_installed()
        with relaunch.triton.install(strict=True):
            pass
        assert relaunch.triton.is_installed()
    assert not relaunch.triton.is_installed()
    relaunch.triton.install()
    with relaunch.triton.install():
        pass
    assert relaunch.triton.is_installed()


def no_references() -> None:
    relaunch.triton.install()
    kernel = fresh()
    out = torch.zeros(64, dtype=torch.int32, device="cuda")
    compiled = kernel[(1,)](out, 5, BLOCK=64)
    reference = weakref.ref(out)
    count = sys.getrefcount(compiled)
    compiled[(1, 1, 1)](out, 5, 64)
    assert sys.getrefcount(compiled) == count
    gc.disable()
    del out
    assert reference() is None
    source = triton.compiler.ASTSource(
        fn=store, signature={"out": "*i32", "value": "i32", "BLOCK": "constexpr"}, constexprs={"BLOCK": 64}
    )
    alone = triton.compile(source)
    alone[(1, 1, 1)](None, 5, 64)
    launcher = weakref.ref(launcher_of(alone))
    assert launcher() is not None
    reference = weakref.ref(alone)
    del alone
    assert reference() is None
    assert launcher() is None
    relaunch.triton.uninstall()


def no_kernel_is_kept_by_uninstall() -> None:
    alone = triton.compile(
        triton.compiler.ASTSource(
            fn=store, signature={"out": "*i32", "value": "i32", "BLOCK": "constexpr"}, constexprs={"BLOCK": 64}
        )
    )
    alone[(1, 1, 1)](None, 5, 64)
    relaunch.triton.install()
    assert isinstance(launcher_of(alone).target, _core.Launcher)
    gc.collect()
    gc.disable()
    reference = weakref.ref(alone)
    del alone
    assert reference() is None
    relaunch.triton.uninstall()


def attributes() -> None:
    plain = run(fresh())
    wanted = {name: value for name, value in vars(launcher_of(plain)).items() if isinstance(value, (int, bool))}
    assert wanted
    relaunch.triton.install(strict=False)
    ours = launcher_of(run(fresh()))
    for name, value in wanted.items():
        assert getattr(ours, name) == value, name
    assert callable(ours.launch)
    assert not hasattr(ours, "no_such_attribute")
    assert isinstance(ours.target, _core.Launcher)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours.launch_cooperative_grid = True
    assert "was set" in str(caught[0].message)
    assert ours.launch_cooperative_grid is True
    RECORDER.reset()
    kernel = run(fresh(), value=5)
    launcher = launcher_of(kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        launcher.launch_cooperative_grid = True
    kernel[(1, 1, 1)](torch.zeros(64, dtype=torch.int32, device="cuda"), 5, 64)
    first, second = (event for event in RECORDER.events() if "Launch" in event.get("call", ""))
    assert (first["call"], first.get("attributes")) != (second["call"], second.get("attributes"))


def keywords() -> None:
    names = original_class().__call__.__code__.co_varnames
    relaunch.triton.install()
    kernel = run(fresh())
    launcher = launcher_of(kernel)
    RECORDER.reset()
    first = {"gridX": 3, "gridY": 2, "gridZ": 1, "stream": 0, "function": kernel.function}
    if "kernel_metadata" in names:
        first |= {"kernel_metadata": kernel.packed_metadata, "launch_metadata": None}
        first |= {"launch_enter_hook": None, "launch_exit_hook": None}
        refuses(lambda: launcher(**first), "argument", TypeError)
        assert launches() == 0
        alone = nothing[(1,)]()
        launcher_of(alone)(**first | {"function": alone.function})
        assert launches() == 2
    refuses(lambda: launcher(no_such=1), "", TypeError)


def threads_at_once() -> None:
    """Installing, uninstalling and launching from several threads: every launch is made once."""
    kernels = [fresh() for _ in range(4)]
    for kernel in kernels:
        run(kernel)
    RECORDER.reset()
    errors: list[BaseException] = []
    rounds = 60

    def launch(kernel: Any) -> None:
        try:
            for number in range(rounds):
                run(kernel, value=number + 2)
        except BaseException as error:  # noqa: BLE001  shown by the main thread
            errors.append(error)

    def switch() -> None:
        try:
            for _ in range(30):
                relaunch.triton.install()
                relaunch.triton.uninstall()
        except BaseException as error:  # noqa: BLE001  shown by the main thread
            errors.append(error)

    workers = [threading.Thread(target=launch, args=(kernel,)) for kernel in kernels]
    workers += [threading.Thread(target=switch) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []
    assert launches() == rounds * len(kernels)


def empty_hook_chains_are_not_called() -> None:
    """From 3.5 on Triton passes one for each hook that is not set, and its own launchers call them."""
    called: list[str] = []

    def profile(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name == "__call__" and "calls" in vars(frame.f_locals["self"]):
            called.append(event)

    def count() -> int:
        called.clear()
        sys.setprofile(profile)
        try:
            run()
        finally:
            sys.setprofile(None)
        return len(called)

    run()
    alone = count()
    assert alone == (2 if hasattr(triton, "knobs") and hasattr(triton.knobs, "HookChain") else 0), alone
    relaunch.triton.install()
    assert count() == 0
    relaunch.triton.uninstall()
    assert count() == alone
