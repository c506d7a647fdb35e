"""Makes `import relaunch` give the package beside this file, whatever lies in the current folder."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).parent / "relaunch"


class Finder(MetaPathFinder):
    """Finds the package itself; its modules are then found in its folder."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if name != PACKAGE.name:
            return None
        return importlib.util.spec_from_file_location(
            name, PACKAGE / "__init__.py", submodule_search_locations=[str(PACKAGE)]
        )


sys.meta_path.insert(0, Finder())
