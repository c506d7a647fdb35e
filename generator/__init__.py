"""Jinja2 templates and frozen facts that regenerate the legacy launchers.

A `LauncherSpec` names a dialect and a signature (nested tuples of type strings). `render` gives the C source of its
launcher, `build` shared objects for many of them, `load` the Python module of one; `slots` and `expand` answer from
the frozen facts what the launcher passes. Nothing here is shared with the precompiled launcher: one judges the other.
"""

from __future__ import annotations

from relaunch.generator.backend import (
    Backend,
    BackendError,
    base_of,
    load_noted,
    own_dialect,
    own_dialects,
    register,
    registered,
)
from relaunch.generator.backend import load as load_backend
from relaunch.generator.build import BuildError, Built, Failure, build, default_cache, publish
from relaunch.generator.dialects import UnknownDialectError, all_dialects, dialects, facts
from relaunch.generator.load import load
from relaunch.generator.plan import NothingToGenerateError
from relaunch.generator.render import module_name, render
from relaunch.generator.signature import LauncherSpec, UnknownType, expand, slots
from relaunch.generator.toolchain import ToolchainError

__all__ = [
    "Backend",
    "BackendError",
    "BuildError",
    "Built",
    "Failure",
    "LauncherSpec",
    "NothingToGenerateError",
    "ToolchainError",
    "UnknownDialectError",
    "UnknownType",
    "all_dialects",
    "base_of",
    "build",
    "default_cache",
    "dialects",
    "expand",
    "facts",
    "load",
    "load_backend",
    "load_noted",
    "module_name",
    "own_dialect",
    "own_dialects",
    "publish",
    "register",
    "registered",
    "render",
    "slots",
]
