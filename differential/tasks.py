"""What is sent to a worker process: tasks and duels, in batches; and what comes back of duels."""

from __future__ import annotations

import json
import pickle
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Duel:
    """Cases of one signature, by their numbers in its seeded sequence, for both launchers in one process.

    `built` is None where there is no legacy launcher: ours is held to what is worked out from the input.
    """

    dialect: str
    signature: Signature
    seed: int
    start: int
    stop: int
    built: Any = None


@dataclass(frozen=True)
class Duels:
    """Duels of one dialect. `timeout` is in seconds, for each case."""

    duels: tuple[Duel, ...]
    timeout: float


@dataclass
class DuelResult:
    """What a worker says of a batch of duels: counts by verdict and by divergence, and which cases must be run alone.

    `alone` has (place of the duel, number, difference); the difference is "" where a child died. `examples` has the
    first case of each divergence: place of the duel, number.
    """

    counts: Counter[str]
    divergences: Counter[str]
    alone: list[tuple[int, int, str]]
    examples: dict[str, tuple[int, int]] = field(default_factory=dict)

    @staticmethod
    def read(line: Callable[[], bytes]) -> DuelResult:
        """From the lines that a worker writes. `line` gives the next."""
        alone: list[tuple[int, int, str]] = []
        examples: dict[str, tuple[int, int]] = {}
        while True:
            said = json.loads(line())
            if "alone" in said:
                place, number, found = said["alone"]
                alone.append((place, number, found))
                continue
            if "example" in said:
                place, number, name = said["example"]
                examples.setdefault(name, (place, number))
                continue
            entries = said.pop("divergences")
            return DuelResult(Counter(said), Counter(entries), sorted(alone), examples)


def send(stream: IO[bytes], batch: Batch | Duels) -> None:
    """Writes a batch so that `receive` reads it."""
    packed = pickle.dumps(batch, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(packed)) + packed)
    stream.flush()


def receive(stream: IO[bytes]) -> Batch | Duels | None:
    """The next batch, or None at the end. The stream must be a parent's: pickle runs what it is told."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    batch: Batch | Duels = pickle.loads(stream.read(*_LENGTH.unpack(head)))
    return batch
