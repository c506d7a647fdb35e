"""Trees as the comparison and the verifications want them, `relaunch verify` included."""

from __future__ import annotations

import re
from typing import Any

from relaunch._core import ARG_CONSTEXPR, ARG_TUPLE, PyKernelArg, Tree

_BLOCK = re.compile(r"tensordesc<\w+\[([^\]]*)\]")
_FUNCTION = re.compile(r'@("[^"]*"|[\w.$-]+)')


def function_name(text: str) -> str:
    """The name that a function of IR has; "" where there is none."""
    found = _FUNCTION.search(text)
    return found[1].strip('"') if found else ""


def plain(tree: Tree) -> tuple[Any, ...]:
    """Nested tuples of types."""
    return tuple(map(_plain, tree))


def _plain(node: PyKernelArg) -> Any:
    if node.type == ARG_TUPLE:
        return tuple(map(_plain, node.nested_tuple or ()))
    return "constexpr" if node.type == ARG_CONSTEXPR else node.dtype


def without_expansion(tree: Tree) -> Tree:
    """A tree read from IR, where the shape (i32) and strides (i64) of a descriptor follow it as parameters of the
    function; a signature has the descriptor alone. One that is not followed by them stays as it is.
    """
    nodes = list(tree)
    if not any((node.dtype or "").startswith("tensordesc<") for node in nodes):
        return tree
    kept = []
    at = 0
    while at < len(nodes):
        kept.append(nodes[at])
        block = _BLOCK.match(nodes[at].dtype or "")
        at += 1
        if block:
            rank = block[1].count(",") + 1
            following = [node.dtype for node in nodes[at : at + 2 * rank]]
            at += 2 * rank if following == ["i32"] * rank + ["i64"] * rank else 0
    return Tree(kept, tree.text)
