"""The same work on a Dask cluster. `distributed` is needed for this alone, and imported only here."""

from __future__ import annotations

import importlib
import logging
from concurrent.futures import Executor
from typing import Any

from relaunch.audit.run import SchedulerError

_PATIENCE = "10s"
_LOGGERS = ("distributed", "distributed.client", "tornado.application")  # what goes wrong is told in one line


class Cluster:
    """Workers of a scheduler, which must see the tree under the same path and have this package installed."""

    def __init__(self, address: str) -> None:
        """Raises SchedulerError."""
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise SchedulerError("--scheduler needs the package `distributed`: pip install distributed") from None
        for name in _LOGGERS:  # at levels of their own since the import
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise SchedulerError(f"no Dask scheduler at {address}: {error}") from None
        self.workers = max(1, sum(self._client.nthreads().values()))

    def executor(self) -> Executor:
        """The cluster as an executor: a worker that dies is the scheduler's business until it gives a task up."""
        found: Executor = self._client.get_executor(pure=False, retries=0)
        return found

    def close(self) -> None:
        """Leave the cluster; it goes on without us."""
        self._client.close()
