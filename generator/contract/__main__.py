"""Writes the pages of the launch contract: `python -m relaunch.generator.contract [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from relaunch.generator.contract.pages import pages

FOLDER = Path("docs/launch-contract")


def write(folder: Path) -> None:
    """Writes every page, and removes what is a page no longer."""
    folder.mkdir(parents=True, exist_ok=True)
    rendered = pages()
    for old in folder.glob("*.md"):
        if old.name not in rendered:
            old.unlink()
    for name, text in rendered.items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
