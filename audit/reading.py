"""Files of a tree that nobody vouches for: only regular ones, only so many bytes, never waiting for a writer."""

from __future__ import annotations

import os
import stat

MIB = 2**20


class Unreadable(Exception):  # noqa: N818 - a finding, not a fault of ours
    """Why something cannot be judged; `file` is its name in the folder, where one is to blame."""

    def __init__(self, message: str, file: str = "") -> None:
        super().__init__(message)
        self.file = file


def read(path: str, name: str, limit: int) -> bytes:
    """A file's bytes, at most `limit`. Raises Unreadable, naming `name`."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise Unreadable(_reason(error), name) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("not a regular file", name)
        if status.st_size <= limit:
            content = _up_to(handle, status.st_size, limit)
            if len(content) <= limit:
                return content
        size = f"{status.st_size:,} bytes, of which" if status.st_size > limit else "still growing:"
        raise Unreadable(f"too large: {size} {limit:,} are read", name)
    except OSError as error:
        raise Unreadable(_reason(error), name) from None
    finally:
        os.close(handle)


def _up_to(handle: int, expected: int, limit: int) -> bytes:
    """All bytes, or more than `limit` where there are more. One read where the file has as many as it said."""
    content = os.read(handle, expected + 1)
    if len(content) == expected:
        return content
    parts = [content]
    total = len(content)
    while total <= limit and (part := os.read(handle, MIB)):
        parts.append(part)
        total += len(part)
    return b"".join(parts)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
