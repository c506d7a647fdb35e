"""Trees in Python: PyKernelArg and Tree."""

from __future__ import annotations

import math
from typing import Any

import pytest

import relaunch
from relaunch import ARG_CONSTEXPR, ARG_KERNEL, ARG_TUPLE, PyKernelArg, Tree, _core


def test_kinds_are_upstreams() -> None:
    assert (ARG_CONSTEXPR, ARG_KERNEL, ARG_TUPLE) == (0, 1, 2)
    node = PyKernelArg((PyKernelArg(None, ARG_KERNEL, "i32"),), ARG_TUPLE)
    assert node.type == ARG_TUPLE
    assert node.nested_tuple == (PyKernelArg(dtype="i32"),)
    assert PyKernelArg(nested_tuple=None, type=ARG_KERNEL).dtype is None


def test_fields() -> None:
    node = PyKernelArg(dtype="*float32", name="x", span=(3, 9), hint="16")
    assert (node.dtype, node.name, node.span, node.hint) == ("*fp32", "x", (3, 9), "16")
    assert (node.value, node.nested_tuple) == (None, None)
    assert node.dump() == "x: *fp32:16"
    assert repr(node) == "<PyKernelArg x: *fp32:16>"
    assert PyKernelArg(dtype="odd type").dtype == "odd type"


@pytest.mark.parametrize("value", [None, True, 0, 2**70, 1.5, -math.inf, "text \" 'q'", [1, [2.5, None]], math.inf])
def test_values_of_constants(value: Any) -> None:
    node = PyKernelArg(type=ARG_CONSTEXPR, value=value)
    assert node.value == value
    assert type(node.value) is type(value)
    assert math.isnan(PyKernelArg(type=ARG_CONSTEXPR, value=math.nan).value)
    assert PyKernelArg(type=ARG_CONSTEXPR, value=math.nan).dump() == 'constexpr={"float": "nan"}'


def test_trees_are_sequences() -> None:
    tree = Tree([PyKernelArg(dtype="i32"), PyKernelArg(type=ARG_CONSTEXPR)], "i32, constexpr")
    assert len(tree) == 2
    assert tree[0] == tree[-2] == PyKernelArg(dtype="i32")
    assert [node.type for node in tree] == [ARG_KERNEL, ARG_CONSTEXPR]
    assert tree.text == tree.dump() == "i32, constexpr"
    assert tree == Tree(list(tree))
    assert hash(tree) == hash(Tree(list(tree)))
    assert tree != Tree([])
    assert tree != "i32, constexpr"
    for index in (2, -3):
        with pytest.raises(IndexError, match=r"^tree index out of range$"):
            tree[index]


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"type": 3}, ValueError, "type must be ARG_CONSTEXPR, ARG_KERNEL or ARG_TUPLE, got 3"),
        ({"type": 2}, ValueError, "nested_tuple belongs to ARG_TUPLE and to nothing else"),
        ({"nested_tuple": ()}, ValueError, "nested_tuple belongs to ARG_TUPLE and to nothing else"),
        ({"type": 0, "dtype": "i32"}, ValueError, "dtype belongs to ARG_KERNEL and to nothing else"),
        ({"type": 2, "nested_tuple": ("i32",)}, TypeError, "expected PyKernelArg entries, got str"),
    ],
)
def test_nodes_that_cannot_be(arguments: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        PyKernelArg(**arguments)
    assert str(caught.value) == text


def test_nesting_is_bounded() -> None:
    node = PyKernelArg(dtype="i32")
    for _ in range(256):
        node = PyKernelArg((node,), ARG_TUPLE)
    with pytest.raises(ValueError, match=r"^tuples nested deeper than 256$"):
        PyKernelArg((node,), ARG_TUPLE)
    assert relaunch.Tree([node]).dump().startswith("((((")


BOUND: list[Any] = [kind for kind in vars(_core).values() if type(kind).__name__ == "pybind11_type"]


@pytest.mark.parametrize("kind", BOUND)
def test_no_object_is_unfinished(kind: Any) -> None:
    """`__new__` by itself would give an object without a value."""
    assert {PyKernelArg, Tree} <= set(BOUND)
    for make in (kind.__new__, object.__new__):
        with pytest.raises(TypeError, match=rf" is not safe, use relaunch\._core\.{kind.__name__}\.__new__\(\)$"):
            make(kind)
