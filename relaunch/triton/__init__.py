"""relaunch in front of an installed Triton: `relaunch.triton.install()`, and every later launch takes the
precompiled launcher, so that no launcher is generated and no C compiler is needed for one.

Whatever cannot or should not be taken goes to Triton's own launcher; `report()` says what and why. `uninstall()`
restores what was there. RELAUNCH_TRITON=1 (or strict) in the environment installs when a program imports Triton.
"""

from __future__ import annotations

from relaunch.triton.installation import Installation, install, is_installed, uninstall
from relaunch.triton.reporting import FallBackError, FallBackWarning, Report, forget_report, report

__all__ = [
    "FallBackError",
    "FallBackWarning",
    "Installation",
    "Report",
    "forget_report",
    "install",
    "is_installed",
    "report",
    "uninstall",
]
