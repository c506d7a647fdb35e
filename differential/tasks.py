"""What is sent to a worker process: tasks, in batches."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from relaunch.differential.case import Signature

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Task:
    """One call to make. `built` is the shared object of a generated launcher (relaunch.generator.Built),
    None with a `refusal`, the error as an outcome shows it, where the generator makes none."""

    launcher: str
    dialect: str
    signature: Signature
    call: Mapping[str, Any]
    slots: list[int] | None
    constants: tuple[int, ...] = ()
    wrapped: bool = False
    tensordesc_meta: tuple[Any, ...] | None = None
    built: Any = None
    refusal: dict[str, Any] | None = None


@dataclass(frozen=True)
class Batch:
    """Tasks of one backend. `timeout` is in seconds, for each task."""

    tasks: tuple[Task, ...]
    timeout: float


def send(stream: IO[bytes], batch: Batch) -> None:
    """Writes a batch so that `receive` reads it."""
    packed = pickle.dumps(batch, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(packed)) + packed)
    stream.flush()


def receive(stream: IO[bytes]) -> Batch | None:
    """The next batch, or None at the end. The stream must be a parent's: pickle runs what it is told."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    batch: Batch = pickle.loads(stream.read(*_LENGTH.unpack(head)))
    return batch
