"""Installs relaunch.triton when a program imports Triton: RELAUNCH_TRITON=1, or RELAUNCH_TRITON=strict.

Lies beside the packages, with a .pth file that imports it where the variable is set. Nothing of relaunch is imported
before Triton is.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class InstallingLoader(Loader):
    """Loads Triton as its own loader does, then installs. Whatever keeps it from that is said, and Triton goes on."""

    def __init__(self, own: Loader) -> None:
        self.own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.own
        self.own.exec_module(module)
        try:
            import relaunch.triton

            relaunch.triton.install(strict=os.environ.get("RELAUNCH_TRITON") == "strict")
        except Exception as error:  # noqa: BLE001  the program did not ask for us
            import warnings

            warnings.warn(f"RELAUNCH_TRITON is set and does nothing: {type(error).__name__}: {error}", stacklevel=2)


class TritonFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Of Triton, once: path and target are for packages inside others and for reloading."""
        del path, target
        if fullname != "triton":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = InstallingLoader(spec.loader)
        return spec


if os.environ.get("RELAUNCH_TRITON", "0") not in ("", "0"):
    sys.meta_path.insert(0, TritonFinder())
