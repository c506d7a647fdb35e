"""The class that stands where a backend's launcher class stood: same constructor, same call, same attributes."""

from __future__ import annotations

import inspect
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, ClassVar

from relaunch._core import LaunchEntry
from relaunch.triton.binding import RefusedError, bind, find_binary, refuse_foreign
from relaunch.triton.reporting import note_fall_back, note_taken


@dataclass
class Replacement:
    """One launcher class of Triton's and ours in its place.

    names: the globals of the backend's driver module. refusal: why no kernel is taken, where that is so. is_active:
    False after uninstall(); all that is made then is Triton's own.
    """

    original: type
    names: dict[str, Any]
    release: str
    backend: str
    refusal: str | None
    is_active: bool = False
    strict: bool = False
    check_binary: bool = True
    launchers: weakref.WeakSet[Taken] = field(default_factory=weakref.WeakSet)
    kernels: list[tuple[weakref.ref[Any], str, Any]] = field(default_factory=list)  # with the launcher they had
    ours: type[Taken] = field(init=False)

    def __post_init__(self) -> None:
        original = self.original
        body = {"_replacement": self, "__module__": original.__module__, "__doc__": original.__doc__}
        body["__qualname__"] = original.__qualname__
        self.ours = type(original.__name__, (Taken, original), body)

    def take(self, src: Any, metadata: Any, strict: bool, caller: FrameType | None) -> Callable[..., Any] | None:
        """What a launch of the kernel calls; None where Triton's own launcher does it, which is then reported.

        caller: the frame that asks for a launcher, which may be the kernel's.
        """
        if not self.is_active:
            return None
        kernel = str(getattr(metadata, "name", None) or getattr(src, "name", "?"))
        try:
            if self.refusal is not None:
                raise RefusedError(self.refusal)
            refuse_foreign(metadata, self.release, self.backend)
            binary = find_binary(src, metadata, self.backend, caller) if self.check_binary else None
            target = bind(src, metadata, self.names, self.release, self.backend, binary)
        except RefusedError as refused:
            reason = str(refused)
        except Exception as error:  # noqa: BLE001  whatever keeps us from taking a kernel, Triton launches it
            reason = f"{type(error).__name__}: {error}"
        else:
            note_taken(kernel, binary is not None)
            return target
        note_fall_back(kernel, reason, strict)
        return None


class TritonsOwn:
    """Triton's own launcher object for a kernel, made (and for 3.3 to 3.6 compiled) when it is first asked for."""

    def __init__(self, original: type, src: Any, metadata: Any) -> None:
        self._make: Callable[[], Any] = lambda: original(src, metadata)
        self._lock = threading.Lock()
        self._made: Any = None

    def get(self) -> Any:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    def put(self, made: Any) -> None:
        self._made = made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.get()(*args, **kwargs)


class Taken(LaunchEntry):
    """A launcher object whose calls go to relaunch. Attributes that are asked of it are those of Triton's own object,
    which is made for that; one that is set is set there, and calls go there from then on."""

    _replacement: ClassVar[Replacement]
    _bound: Callable[..., Any]
    _own: TritonsOwn

    def __new__(cls, src: Any, metadata: Any) -> Any:
        replacement = cls._replacement
        if cls is not replacement.ours:  # somebody's subclass: what it overrides, only its base class knows
            kernel = str(getattr(metadata, "name", "?"))
            note_fall_back(
                kernel, f"its launcher is of {cls.__qualname__}, a class of somebody else", replacement.strict
            )
            return _foreign(cls, replacement.original)
        target = replacement.take(src, metadata, replacement.strict, sys._getframe(1))
        own = TritonsOwn(replacement.original, src, metadata)
        if target is None:
            return own.get()
        return cls._around(target, own)

    @classmethod
    def _around(cls, target: Callable[..., Any], own: TritonsOwn) -> Taken:
        self = LaunchEntry.__new__(cls, target)
        vars(self).update(_bound=target, _own=own)
        cls._replacement.launchers.add(self)
        return self

    @classmethod
    def in_place_of(cls, made: Any, target: Callable[..., Any]) -> Taken:
        """For a kernel whose launcher `made` is Triton's own."""
        own = TritonsOwn(cls._replacement.original, None, None)
        own.put(made)
        return cls._around(target, own)

    def __init__(self, src: Any, metadata: Any) -> None:
        if type(self) is not self._replacement.ours:
            self._replacement.original.__init__(self, src, metadata)  # type: ignore[misc]

    def __getattr__(self, name: str) -> Any:
        if name in ("_bound", "_own") or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return getattr(self._own.get(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if type(self) is not self._replacement.ours:
            object.__setattr__(self, name, value)
            return
        own = self._own.get()
        setattr(own, name, value)
        self.retarget(own)
        note_fall_back(type(own).__name__, f"the attribute {name!r} of its launcher was set", self._replacement.strict)

    def call_with_keywords(self, *args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(self._replacement.original.__call__).bind(self, *args, **kwargs)
        return self(*bound.args[1:])

    def take_again(self) -> None:
        self.retarget(self._bound)

    def give_back(self) -> None:
        self.retarget(self._own)


def _foreign(made_class: type[Taken], original: Any) -> Taken:
    """An object of a subclass of ours that calls what its base class was."""
    made = LaunchEntry.__new__(made_class, len)
    reference = weakref.ref(made)
    made.retarget(lambda *args, **kwargs: original.__call__(reference(), *args, **kwargs))
    return made
