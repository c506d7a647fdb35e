"""relaunch.parse, its errors, and trees that are written and read again."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relaunch
from relaunch import ARG_CONSTEXPR, ARG_KERNEL, ARG_TUPLE, PyKernelArg, Tree
from relaunch._core import FORMS, read_signatures


def test_a_tree() -> None:
    tree = relaunch.parse("*fp32, n: i32:16, constexpr, (i32, *fp16)")
    assert [node.type for node in tree] == [ARG_KERNEL, ARG_KERNEL, ARG_CONSTEXPR, ARG_TUPLE]
    assert [node.dtype for node in tree] == ["*fp32", "i32", None, None]
    assert (tree[1].name, tree[1].hint, tree[1].span) == ("n", "16", (10, 13))
    assert [node.dtype for node in tree[3].nested_tuple or ()] == ["i32", "*fp16"]
    assert tree.text == "*fp32, n: i32:16, constexpr, (i32, *fp16)"


def test_values_are_python_values() -> None:
    tree = relaunch.parse("128, -1.5, True, x: constexpr=[1, 'é', {'a': None}], nan, inf")
    values = [node.value for node in tree]
    assert values[:4] == [128, -1.5, True, [1, "é", {"a": None}]]
    assert values[4] != values[4]
    assert values[5] == float("inf")


def test_spans_are_bytes() -> None:
    tree = relaunch.parse("é: i32, ü: fp32")
    assert [node.span for node in tree] == [(4, 7), (13, 17)]


@pytest.mark.parametrize(
    ("text", "code", "message", "span"),
    [
        ("", "RL001", "the text is empty: a kernel without arguments is written {}", (0, 0)),
        ("(i32, *fp32", "RL005", "'(' is never closed", (0, 1)),
        ("i32, i\0", "RL003", "a NUL byte cannot be part of a signature", (6, 7)),
        ("(" * 100_000, "RL006", "tuples nested deeper than 256", (256, 257)),
        ("i32, \ud800", "RL002", "this byte is not UTF-8", (5, 8)),
        ("i32, bool", "RL010", None, (5, 9)),
        ("é: i32, i33", "RL010", None, (9, 12)),
        ("{'a': 'i32', 'b': 5}", "RL016", "expected a type text or a tuple of them, got a number", (18, 19)),
    ],
)
def test_errors(text: str, code: str, message: str | None, span: tuple[int, int]) -> None:
    with pytest.raises(relaunch.SignatureError) as caught:
        relaunch.parse(text)
    error = caught.value
    assert isinstance(error, ValueError)
    if message is None:
        word = text.rsplit(maxsplit=1)[-1]
        message = f"unknown type '{word}': expected one like i32, fp32, *fp16, constexpr or tensordesc<fp16[64, 64]>"
    assert (error.code, error.message, error.span) == (code, message, span)
    assert error.text == text.replace("\ud800", "\N{REPLACEMENT CHARACTER}" * 3)


def test_an_error_shows_its_place() -> None:
    with pytest.raises(relaunch.SignatureError) as caught:
        relaunch.parse("{\n  'a': 'i32',\n  'b': 'i33',\n}")
    assert str(caught.value) == (
        "3:9: RL010 unknown type 'i33': expected one like i32, fp32, *fp16, constexpr or tensordesc<fp16[64, 64]>\n"
        "    'b': 'i33',\n"
        "          ^^^"
    )


def test_a_long_line_is_shown_around_the_place() -> None:
    with pytest.raises(relaunch.SignatureError) as caught:
        relaunch.parse("i32, " * 200_000 + "i33")
    head, line, caret = str(caught.value).splitlines()
    assert head.startswith("1:1000001: RL010 unknown type 'i33'")
    assert line == "  ..." + "i32, " * 8 + "i33"
    assert caret == " " * 45 + "^^^"


def test_an_error_can_be_pickled() -> None:
    with pytest.raises(relaunch.SignatureError) as caught:
        relaunch.parse("i33")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.code) == (relaunch.SignatureError, str(caught.value), "RL010")


def test_forms() -> None:
    assert " ".join(FORMS) == "auto csv aot dict json ast inductor values ttir c cache tree"
    assert relaunch.parse('{"a": ["i32"]}', form="json").dump() == "a: (i32,)"
    with pytest.raises(relaunch.SignatureError, match="RL007"):
        relaunch.parse("{'a': ['i32']}", form="json")
    with pytest.raises(ValueError, match=f"^no reader for the form 'nonsense': the forms read are {', '.join(FORMS)}$"):
        relaunch.parse("i32", form="nonsense")
    with pytest.raises(TypeError):
        relaunch.parse(b"i32")  # type: ignore[arg-type]


def test_many_arguments() -> None:
    tree = relaunch.parse(", ".join(["*fp32", "i32", "constexpr", "fp64", "(i32, u8)"] * 1000))
    assert len(tree) == 5000
    assert relaunch.parse(tree.dump()) == tree


WORDS = ("i1", "u1", "i8", "u16", "i64", "fp16", "bf16", "fp64", "nvTmaDesc", "void")
DESCRIPTORS = ("tensordesc<fp16[64, 64]>", "tensordesc_im2col<fp32[1,16],input_rank=4,'a, <b>'>")
TYPES = st.sampled_from([*WORDS, *(f"*{word}" for word in WORDS), "**i32", "*kfp16", *DESCRIPTORS])
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True) | st.sampled_from(
    ["é", "变量", "constexpr", "i32"]
)
SCALARS = st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.none() | st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=4)


def rows(entries: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[str | None, Any]]]:
    """Entries of one level, no name twice."""
    named = st.tuples(st.none() | NAMES, entries)
    return st.lists(named, max_size=5, unique_by=lambda pair: pair[0] or object())


def named(pairs: list[tuple[str | None, dict[str, Any]]]) -> list[PyKernelArg]:
    return [PyKernelArg(name=name, **fields) for name, fields in pairs]


KERNEL = st.fixed_dictionaries(
    {"dtype": TYPES, "hint": st.sampled_from([None, "1", "16"]), "value": VALUES, "type": st.just(ARG_KERNEL)}
)
CONSTEXPR = st.fixed_dictionaries({"value": VALUES, "type": st.just(ARG_CONSTEXPR)})
ENTRIES = st.recursive(
    KERNEL | CONSTEXPR,
    lambda inner: st.fixed_dictionaries(
        {"nested_tuple": rows(inner).map(named), "type": st.just(ARG_TUPLE), "value": VALUES}
    ),
    max_leaves=8,
)


@given(rows(ENTRIES).map(named).map(Tree))
def test_tree_to_line_to_tree(tree: Tree) -> None:
    line = tree.dump()
    assert "\n" not in line
    again = relaunch.parse(line, form="tree")
    assert again == tree
    assert again.dump() == line
    (written,) = read_signatures(line.encode(), "line", "csv")
    (read,) = read_signatures(written.to_json().encode(), "json")
    assert read.tree == tree


NESTED = st.recursive(TYPES | st.just("constexpr"), lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=12)


@given(st.dictionaries(NAMES, NESTED, max_size=6))
def test_python_and_json_say_the_same(signature: dict[str, Any]) -> None:
    python = relaunch.parse(repr(signature), form="dict")
    assert relaunch.parse(json.dumps(signature), form="json") == python
    assert relaunch.parse(python.dump()) == python
    sequence = relaunch.parse(repr(list(signature.values())), form="dict")
    assert len(sequence) == len(python)


@given(st.text(alphabet="i32*fp,():=<>[]{}'\"\\# \n{tensordc}1-.\0é", max_size=60))
def test_no_text_does_harm(text: str) -> None:
    for form in FORMS:
        for one in read_signatures(text.encode(), "f", form):
            size = len(one.text.encode())
            assert all(0 <= found["span"][0] <= found["span"][1] <= size for found in one.diagnostics)
            assert one.ok != any(found["severity"] == "error" for found in one.diagnostics)
            if one.ok:
                assert relaunch.parse(one.to_csv(), "tree") == one.tree
