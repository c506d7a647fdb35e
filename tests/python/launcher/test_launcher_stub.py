"""The stub of relaunch._core and the module itself agree: names, parameters, defaults."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import relaunch
from relaunch import _core

STUB = ast.parse((Path(__file__).parents[3] / "relaunch" / "_core.pyi").read_text())
# Classes with an underscore in front describe types to the type checker only.
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"}
PROTOCOLS = {"__call__", "__len__", "__getitem__", "__iter__", "__buffer__"}


def public(names: Any) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def described(function: ast.FunctionDef) -> list[tuple[str, bool]]:
    """Parameters behind self: name, and whether it can be left out."""
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    optional = [False] * (len(positional) - len(spec.defaults)) + [True] * len(spec.defaults)
    found = [(one.arg, has) for one, has in zip(positional, optional, strict=True)][1:]
    if spec.vararg:
        found.append((spec.vararg.arg, True))
    found += [(one.arg, default is not None) for one, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]
    return found


def functions(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}


def test_module_names() -> None:
    names = set()
    for node in STUB.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    assert public(names) == public(vars(_core))


def test_the_package_exports_what_there_is() -> None:
    assert len(set(relaunch.__all__)) == len(relaunch.__all__)  # ruff sorts them
    assert set(relaunch.__all__) <= set(vars(_core))
    for name in relaunch.__all__:
        assert getattr(relaunch, name) is getattr(_core, name)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_members(name: str) -> None:
    real = getattr(_core, name)
    fields = [one.target for one in CLASSES[name].body if isinstance(one, ast.AnnAssign)]
    stubbed = set(functions(CLASSES[name])) | {one.id for one in fields if isinstance(one, ast.Name)}
    if issubclass(real, BaseException):
        return
    assert public(stubbed) == public(vars(real))
    for special in PROTOCOLS & stubbed - {"__buffer__"}:
        assert hasattr(real, special), special


@pytest.mark.parametrize(
    ("name", "method"),
    [
        (name, method)
        for name, node in sorted(CLASSES.items())
        for method, function in functions(node).items()
        if (method == "__init__" or not method.startswith("__")) and not function.decorator_list
    ],
)
def test_parameters(name: str, method: str) -> None:
    real = getattr(_core, name)
    stub = described(functions(CLASSES[name])[method])
    of_class = method == "__init__"
    if issubclass(real, (_core.MigrateSession, _core.Plan, _core.PyKernelArg, _core.Signature, _core.Tree)):
        return  # pybind11 gives no signature; see below
    signature = inspect.signature(real if of_class else getattr(real, method))
    found = [
        (one.name, one.default is not inspect.Parameter.empty or one.kind is inspect.Parameter.VAR_POSITIONAL)
        for one in signature.parameters.values()
    ]
    assert (found if of_class else found[1:]) == stub


def in_docstring(real: Any) -> list[str]:
    """The parameters that pybind11 writes into the first line of a docstring."""
    line = real.__doc__.splitlines()[0]
    return re.findall(r"(?:\(|, )(\w+):", line[line.index("(") :].partition(" -> ")[0])


def test_pybind_classes_say_their_parameters_in_their_docstrings() -> None:
    for name in ("MigrateSession", "Plan", "PyKernelArg", "Tree"):
        stub = described(functions(CLASSES[name])["__init__"])
        assert [one for one, _ in stub] == [one for one in in_docstring(getattr(_core, name).__init__) if one != "self"]


def test_functions() -> None:
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            stubbed = [one.arg for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
            real = getattr(_core, node.name)
            by_pybind = real.__text_signature__ is None
            assert stubbed == (in_docstring(real) if by_pybind else list(inspect.signature(real).parameters))
