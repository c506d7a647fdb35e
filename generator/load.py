"""Imports a built launcher."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ExtensionFileLoader
from types import ModuleType

from relaunch.generator.build import Built


def load(built: Built) -> ModuleType:
    """Imports the launcher's module; its `launch` takes the dialect's positional arguments.

    Generated code is as unsafe as the original: call this in a worker process only. Raises ImportError where the
    driver library or the module with the descriptor type is missing, RuntimeError where HIP lacks a symbol.
    """
    loader = ExtensionFileLoader(built.module_name, str(built.path))
    spec = importlib.util.spec_from_file_location(built.module_name, built.path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
