"""`python -m relaunch VERB`: the command line, where no `relaunch` program is on PATH."""

from __future__ import annotations

from relaunch.cli import main

if __name__ == "__main__":
    main()
