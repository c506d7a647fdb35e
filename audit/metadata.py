"""Triton's metadata of one kernel: which release compiled it for what, and what it is called in its binary."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from relaunch.audit.reading import Unreadable

from relaunch import generator

_RELEASE = re.compile(r"(\d{1,3})\.(\d{1,3})(?!\d)")
_OF_A_KERNEL = ("num_warps", "shared", "target", "signature")  # at least two of them


@dataclass(frozen=True)
class Metadata:
    """What a kernel's metadata says of it; None where it says nothing."""

    name: str | None = None
    backend: str | None = None
    release: str | None = None
    descriptors: tuple[Any, ...] | None = None  # tensordesc_meta
    has_signature: bool = False

    def dialect(self, sources: tuple[str, ...]) -> str:
        """Whose launcher the kernel was compiled for; one of `sources` where no release is named. Raises Unreadable."""
        if self.release is None:
            fitting = [name for name in sources if self.backend in (None, generator.facts(name).backend)]
            if len(fitting) != 1:
                backend = f" for {self.backend}" if self.backend else ""
                raise Unreadable(f"the release that compiled it{backend} is not named: say it with --from")
            return fitting[0]
        if self.backend is None:
            raise Unreadable(f"Triton {self.release} compiled it, for a backend that is not named")
        found = _RELEASE.match(self.release)
        name = f"triton-{found[1]}.{found[2]}-{self.backend}" if found else f"{self.release}-{self.backend}"
        try:
            return generator.facts(name).dialect
        except generator.UnknownDialectError:
            raise Unreadable(f"there is no dialect for Triton {self.release} on {self.backend}") from None


def read_metadata(content: bytes, file: str) -> Metadata | None:
    """None where the JSON is not that of a kernel. Raises Unreadable where it is no JSON."""
    try:
        found = json.loads(content)
    except RecursionError:
        raise Unreadable("JSON nested too deep", file) from None
    except ValueError as error:
        raise Unreadable(f"no JSON: {error}", file) from None
    if not isinstance(found, dict) or sum(key in found for key in _OF_A_KERNEL) < 2:
        return None
    target = found.get("target")
    described = found.get("tensordesc_meta")
    return Metadata(
        name=_text(found.get("name")),
        backend=_text(target.get("backend")) if isinstance(target, dict) else None,
        release=_text(found.get("triton_version")),
        descriptors=tuple(described) if isinstance(described, list) else None,
        has_signature=isinstance(found.get("signature"), dict),
    )


def _text(value: object) -> str | None:
    """A str of reasonable length, which names are."""
    return value if isinstance(value, str) and 0 < len(value) <= 4096 else None
