"""A worker process whose HIP launchers run over `hip_on_cuda`, and that over the recording CUDA driver.

Its argument is the JSON of what each HIP function is carried to.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

from relaunch.differential import tasks, worker
from relaunch.differential.launching import Runner
from relaunch.differential.on_device.device import hip_on_cuda
from relaunch.differential.recorder import Recorder


class CarriedRecorder(Recorder):
    """The journal of the CUDA driver under the HIP runtime that launchers open."""

    def __init__(self, carried: dict[str, str]) -> None:
        super().__init__("cuda")
        self.carried = carried
        self.path = hip_on_cuda()
        self.hip = ctypes.PyDLL(str(self.path), mode=os.RTLD_GLOBAL | os.RTLD_NOW)

    def fail(self, function: str, nth: int, status: int) -> None:
        super().fail(self.carried[function], nth, status)

    def reset(self) -> None:
        super().reset()
        self.hip.hipGetLastError()


def main() -> None:
    runner = Runner("hip", CarriedRecorder(json.loads(sys.argv[1])))
    while (batch := tasks.receive(sys.stdin.buffer)) is not None:
        assert isinstance(batch, tasks.Batch)
        worker.run_batch(runner, batch)


if __name__ == "__main__":
    main()
