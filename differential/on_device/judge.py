"""What a device saw, held against the record of the same call."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from relaunch.differential.outcome import Outcome, launches
from relaunch.kernels import echo

_CLUSTER = 4  # the attribute of either vendor


def seen(text: str, layout: echo.Layout) -> tuple[dict[str, int], list[str]]:
    """The words about the launch, and each parameter's bytes as hexadecimal text."""
    written = bytes.fromhex(text)
    words = struct.unpack_from(f"<{len(echo.WORDS)}I", written)
    parameters = [
        written[place : place + one.size].hex() for one, place in zip(layout, echo.places(layout), strict=True)
    ]
    return dict(zip(echo.WORDS, words, strict=True)), parameters


def words_of(record: Mapping[str, Any]) -> dict[str, int]:
    """What a kernel must see of a recorded launch."""
    cluster = next((value for identity, value in record["attributes"] if identity == _CLUSTER), None)
    clusters = (1, 1, 1) if cluster is None else struct.unpack("<3I", bytes.fromhex(cluster)[:12])
    grid, block = record["grid"], record["block"]
    wanted = {"launches": 1, "blocks": grid[0] * grid[1] * grid[2], "shared": record["shared"]}
    for name, sizes in (("grid", grid), ("block", block), ("cluster", clusters)):
        wanted.update((f"{name}_{axis}", size) for axis, size in zip("xyz", sizes, strict=True))
    return wanted


def difference(echoed: Outcome, recorded: Outcome, layout: echo.Layout) -> str | None:
    """The first thing that the device saw otherwise than recorded, named; None where there is none.

    The kernel's part of a slot is its first bytes.
    """
    if echoed.get("error") is not None or "bind_error" in echoed:
        return f"on the device: {echoed.get('error') or echoed['bind_error']}"
    found = launches(recorded)
    if len(found) != 1 or recorded["error"] is not None:
        return f"the record has {len(found)} launches and the error {recorded.get('error')}"
    words, parameters = seen(echoed["events"][0]["echo"], layout)
    for name, wanted in words_of(found[0]).items():
        if words[name] != wanted:
            return f"{name}: recorded {wanted}, the device saw {words[name]}"
    slots = found[0]["params"]
    if len(slots) != len(parameters):
        return f"parameters: recorded {len(slots)}, the kernel has {len(parameters)}"
    for i, (slot, got) in enumerate(zip(slots, parameters, strict=True)):
        if slot[: len(got)] != got:
            return f"parameter {i}: recorded {slot[: len(got)]}, the device saw {got}"
    return None
