"""One call: a case given to one launcher in this process. Only ever used in a worker process."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.machinery import ModuleSpec
from typing import Any

from relaunch.differential.arguments import Arguments, descriptor_type, tensor_map
from relaunch.differential.encoding import encoder
from relaunch.differential.outcome import describe
from relaunch.differential.recorder import Recorder
from relaunch.differential.tasks import Task
from relaunch.generator import legacy_descriptors

from relaunch import generator

LAUNCH_METADATA = "launch-metadata"
FUNCTION = 0xF00
REFUSALS = (AssertionError, KeyError, OverflowError, RuntimeError, TypeError, ValueError)
"""What building a launcher may raise for its signature or options; that is an outcome. Anything else is our fault."""
ENTER = b'{"hook": "enter"}'
EXIT = b'{"hook": "exit"}'

# The options of relaunch.Launcher that a case's call may name.
LAUNCHER_OPTIONS = ("cooperative", "pdl", "global_scratch", "profile_scratch", "warp_size")
DRIVER_MODULES = {"cuda": ("nvidia", "PyCUtensorMap"), "hip": ("amd", "PyTDMDescriptor")}


class Runner:
    """Runs tasks of one backend and gives each outcome as JSON text.

    `recorder` is what says what happened, and whose path launchers open; the backend's recording driver by default.
    """

    def __init__(self, backend: str, recorder: Any = None) -> None:
        self.recorder = recorder or Recorder(backend)
        self._arguments: dict[tuple[str, bool], Arguments] = {}
        self._hooks = {
            ("enter", "none"): None,
            ("exit", "none"): None,
            ("enter", "ok"): self._noting(ENTER),
            ("exit", "ok"): self._noting(EXIT),
            ("enter", "raise"): self._noting(ENTER, "enter hook failed"),
            ("exit", "raise"): self._noting(EXIT, "exit hook failed"),
        }
        self._launchers: dict[Any, Callable[..., Any]] = {}
        provide_driver_module(base_backend(backend))

    def _build(self, task: Task, argument: Any) -> Any:
        """The object of an argument's JSON. A wrapped case's objects are not seen being asked."""
        key = (task.dialect, task.wrapped)
        if key not in self._arguments:
            self._arguments[key] = Arguments(task.dialect, _say_nothing if task.wrapped else self.recorder.note)
        return self._arguments[key].build(argument)

    def run(self, task: Task) -> bytes:
        """One outcome, one line without its end. Whatever Python raises is part of the outcome."""
        call = task.call
        shown = b"" if task.slots is None else b'"slots": ' + json.dumps(task.slots).encode() + b", "
        try:
            if task.launcher == "generated" and task.refusal is not None:
                return b'{"bind_error": ' + json.dumps(task.refusal).encode() + b"}"
            prefix, launch = self._prepare(task)
        except REFUSALS as refusal:
            return b'{"bind_error": ' + json.dumps(describe(refusal)).encode() + b"}"
        if task.launcher == "precompiled":  # says itself what it passes; a generated one cannot be asked
            shown = b'"slots": ' + json.dumps(launch.__self__.slots).encode() + b", "  # type: ignore[attr-defined]
        hooks = [self._hooks[name, call.get(name, "none")] for name in ("enter", "exit")]
        args = [self._build(task, argument) for argument in call["args"]]
        metadata = self._metadata(task, call.get("metadata"))
        self._set_up(task)
        error: BaseException | None = None
        try:
            if task.wrapped and task.launcher == "generated":
                args = self._expanded(task, args)
            launch(*prefix, metadata, LAUNCH_METADATA, *hooks, *args)
        except BaseException as raised:  # noqa: BLE001 - KeyboardInterrupt from an argument too
            error = raised
        events = self.recorder.events_text()
        if call.get("list_calls"):
            events += b', "calls": ' + self.recorder.calls_text()
        described = b"null" if error is None else json.dumps(describe(error)).encode()
        return b"{" + shown + b'"events": ' + events + b', "error": ' + described + b"}"

    def _set_up(self, task: Task) -> None:
        recorder = self.recorder
        recorder.reset()
        if task.slots is not None:
            recorder.set_slots(task.slots)
        if task.call.get("fail"):
            recorder.fail(*task.call["fail"])
        if task.call.get("no_context"):
            recorder.no_context()
        if task.call.get("list_calls"):
            recorder.list_calls()

    def _prepare(self, task: Task) -> tuple[list[Any], Callable[..., Any]]:
        call = task.call
        grid = [self._build(task, size) for size in call["grid"]]
        stream, function = (self._handle(task, call.get(name)) for name in ("stream", "function"))
        if task.launcher == "precompiled":
            return [*grid, stream, function], self.precompiled(task)
        given = {
            **dict(zip(("grid_x", "grid_y", "grid_z"), grid, strict=True)),
            "stream": stream,
            "function": function,
            "cooperative": call.get("cooperative", False),
            "pdl": call.get("pdl", False),
            "global_scratch": self._build(task, call.get("global_scratch")),
            "profile_scratch": self._build(task, call.get("profile_scratch")),
        }
        return [given[name] for name in names_before_metadata(task.dialect)], self.generated(task)

    def _expanded(self, task: Task, args: list[Any]) -> list[Any]:
        """What the released launcher object makes of descriptor objects. Raises as it does."""
        encode = encoder(self.recorder.library, tensor_map(task.dialect))
        return legacy_descriptors.expand_arguments(task.built.spec, args, encode)

    def generated(self, task: Task) -> Callable[..., Any]:
        """The legacy launcher that the task names. ImportError where it cannot be loaded."""
        assert task.built is not None
        key = (task.built.path, task.built.module_name)
        if key not in self._launchers:
            self._launchers[key] = generator.load(task.built).launch
        return self._launchers[key]

    def precompiled(self, task: Task) -> Callable[..., Any]:
        """Our launcher for the task's signature and options. Raises what a Launcher refuses with."""
        import relaunch

        options = {name: task.call[name] for name in LAUNCHER_OPTIONS if name in task.call}
        if task.constants:
            options["constants"] = task.constants
        if task.wrapped:
            options["tensordesc_meta"] = task.tensordesc_meta
        key = (task.dialect, task.signature, task.wrapped, repr(options))
        if key not in self._launchers:
            for name in ("global_scratch", "profile_scratch"):
                if name in options:
                    options[name] = self._build(task, options[name])
            launcher = relaunch.Launcher(
                tree(task.signature),
                dialect=generator.base_of(task.dialect),
                function=self._bound_to(task),
                name="kernel",
                driver=str(self.recorder.path),
                **options,
            )
            self._launchers[key] = launcher.launch
        return self._launchers[key]

    def _bound_to(self, _task: Task) -> int:
        """The function that a launcher is bound to. The call's own wins, whatever it is."""
        return FUNCTION

    def _metadata(self, task: Task, metadata: Any) -> Any:
        if isinstance(metadata, Sequence) and not isinstance(metadata, str):
            return tuple(self._build(task, entry) for entry in metadata)
        return self._build(task, metadata)

    def _handle(self, task: Task, number: Any) -> Any:
        return int(number, 16) if isinstance(number, str) else self._build(task, number)

    def _noting(self, event: bytes, failure: str | None = None) -> Callable[[object], None]:
        note = self.recorder.note

        def hook(_launch_metadata: object) -> None:
            note(event)
            if failure is not None:
                raise RuntimeError(failure)

        return hook


@lru_cache(maxsize=64)
def names_before_metadata(dialect: str) -> tuple[str, ...]:
    """The generated launcher's arguments in front of kernel_metadata."""
    names = [positional.name for positional in generator.facts(dialect).prefix]
    return tuple(names[: names.index("kernel_metadata")])


def tree(signature: Sequence[Any]) -> Any:
    """A signature as the precompiled launcher takes it."""
    import relaunch

    def node(entry: Any) -> Any:
        if not isinstance(entry, str):
            return relaunch.PyKernelArg(tuple(node(item) for item in entry), relaunch.ARG_TUPLE)
        if entry == "constexpr":
            return relaunch.PyKernelArg(None, relaunch.ARG_CONSTEXPR)
        return relaunch.PyKernelArg(None, relaunch.ARG_KERNEL, entry)

    return relaunch.Tree([node(entry) for entry in signature])


def _say_nothing(_event: bytes) -> None:
    pass


def base_backend(backend: str) -> str:
    """The built-in backend whose argument objects are used: the backend itself where it is built in."""
    own = generator.registered(backend)
    return backend if own is None else generator.facts(next(iter(own.follows.values()))).backend


def provide_driver_module(backend: str) -> None:
    """Puts a stand-in for triton.backends.<vendor>.driver, with its descriptor class, into sys.modules."""
    vendor, class_name = DRIVER_MODULES[backend]
    names = ["triton", "triton.backends", f"triton.backends.{vendor}", f"triton.backends.{vendor}.driver"]
    parent: types.ModuleType | None = None
    for name in names:
        module = sys.modules[name] = types.ModuleType(name)
        module.__spec__ = ModuleSpec(name, None, is_package=True)  # packages that ask whether there is a Triton read it
        module.__path__ = []
        if parent is not None:
            setattr(parent, name.rpartition(".")[2], module)
        parent = module
    setattr(parent, class_name, descriptor_type(backend))
