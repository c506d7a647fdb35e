"""Every signature of tests/signatures: read to what Python itself says it is, or refused with a code."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import relaunch
from relaunch._core import read_signatures

FILE = Path(__file__).parents[2] / "signatures" / "signatures.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
SIGNATURES = read_signatures(FILE.read_bytes(), "signatures.jsonl")
READ = [(row, one) for row, one in zip(ROWS, SIGNATURES, strict=True) if one.ok]

PLACEHOLDER = "RL015"  # the template was never filled in
# What is refused, with the code of its first error and the reason.
REFUSED = {
    "sig-0064": "RL004",  # a tuple's text in quotes, "()": Triton knows no such type either
    "sig-0118": "RL010",  # tl.pointer_type names no element
    "sig-0126": PLACEHOLDER,
    "sig-0127": PLACEHOLDER,
    "sig-0129": PLACEHOLDER,
    "sig-0132": PLACEHOLDER,
    "sig-0133": PLACEHOLDER,
    "sig-0141": "RL004",  # '*fp32:16[2]': a list of hints, another project's own notation
    "sig-0164": PLACEHOLDER,
    "sig-0170": PLACEHOLDER,
    "sig-0171": PLACEHOLDER,
    "sig-0173": PLACEHOLDER,
    "sig-0174": PLACEHOLDER,
    "sig-0175": "RL011",  # tensordesc<...>, three dots and no more
    "sig-0322": "RL010",  # %x: !llvm.ptr<3>, shared memory
    "sig-0323": "RL010",  # !tt.ptr without the type pointed to
    "sig-0335": "RL010",  # a pointer to a tensor
    "sig-0336": "RL010",
    "sig-0337": "RL010",  # a pointer to index, which has no width
    "sig-0362": "RL010",  # i128
    "sig-0397": PLACEHOLDER,
    "sig-0398": PLACEHOLDER,
    "sig-0417": PLACEHOLDER,
    "sig-0419": PLACEHOLDER,
    "sig-0423": PLACEHOLDER,
    "sig-0425": PLACEHOLDER,
    "sig-0427": PLACEHOLDER,
    "sig-0429": PLACEHOLDER,
}

# Namedtuple reprs, which literal_eval does not read: names of the fields, and types.
REPRS: dict[str, Any] = {
    "sig-0449": [
        ("closure", [("fn", "constexpr"), ("captured", [(None, "*fp32")])]),
        *(
            (name, [("ptr", "*fp32"), ("shape", [(None, "i32")] * 2), ("stride", [(None, "i32"), (None, "constexpr")])])
            for name in ("_X", "Y")
        ),
        ("BLOCK_M", "constexpr"),
        ("BLOCK_N", "constexpr"),
    ],
    "sig-0452": [("foo", [(None, "i32"), (None, "fp64")])],
}


def entry(text: str) -> tuple[str, str | None, Any]:
    """(type, hint, value) of one entry of comma text or of one type string."""
    text = text.strip()
    try:
        return "constexpr", None, ast.literal_eval(text)
    except (ValueError, SyntaxError):
        kind, _, hint = text.partition(":")
        return kind, hint or None, None


def of_literal(value: Any) -> list[Any]:
    """(name, type or items, hint, value) for each entry of a dict or sequence."""
    named = value.items() if isinstance(value, dict) else ((0, item) for item in value)
    out: list[Any] = []
    for key, item in named:
        name = key if isinstance(key, str) else None
        if isinstance(item, str):
            out.append((name, *entry(item)))
        elif len(item) == 2 and isinstance(item[1], int):  # (type, hint)
            out.append((name, item[0], str(item[1]), None))
        else:
            out.append((name, of_literal(item), None, None))
    return out


def expected(row: dict[str, Any]) -> list[Any]:
    """What a row's text is, found without the readers under test."""
    text = row["text"].strip()
    if row["id"] in REPRS:
        return [fields(*field) for field in REPRS[row["id"]]]
    if row["syntax"] == "params":
        return of_mlir(text)
    if row["syntax"] == "token":
        return [(None, text, None, None)]
    if row["syntax"] == "csv":
        return [(None, *entry(piece)) for piece in text.split(",")]
    return of_literal(ast.literal_eval(text))


MLIR_SCALARS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "ui8": "u8", "si64": "i64"} | {
    "f8E4M3FN": "fp8e4nv",
    "f8E4M3FNUZ": "fp8e4b8",
    "index": "",
}


def of_mlir(text: str) -> list[Any]:
    """(name, type, hint, value) for each parameter of a function of TTIR."""
    out = []
    for name, rest in re.findall(r"%\s*([\w.]+)\s*:\s*(.*?)(?=,\s*%|$)", text, re.DOTALL):
        hint = "16" if "tt.divisibility = 16 " in rest else None
        if "tt.nv_tma_desc = 1" in rest:
            out.append((name, "nvTmaDesc", hint, None))
            continue
        stars = rest.count("!tt.ptr<")
        scalar = rest.replace("!tt.ptr<", "")
        if found := re.match(r"!tt.tensordesc<(?:tensor<)?((?:\d+x)+)(\w+)", scalar):
            shape = ", ".join(found[1].split("x")[:-1])
            out.append((name, f"tensordesc<{MLIR_SCALARS.get(found[2], found[2])}[{shape}]>", hint, None))
        else:
            word = re.match(r"\w+", scalar)[0]  # type: ignore[index]
            out.append((name, "*" * stars + MLIR_SCALARS.get(word, word), hint, None))
    return out


def fields(name: str | None, kind: Any) -> Any:
    return (name, kind if isinstance(kind, str) else [fields(*item) for item in kind], None, None)


def found(nodes: Any) -> list[Any]:
    """The same of a tree."""
    out: list[Any] = []
    for node in nodes:
        assert (node.dtype is None) == (node.type != relaunch.ARG_KERNEL)
        assert (node.nested_tuple is None) == (node.type != relaunch.ARG_TUPLE)
        kind = found(node.nested_tuple) if node.nested_tuple is not None else node.dtype or "constexpr"
        out.append((node.name, kind, node.hint, node.value))
    return out


def owners(row: dict[str, Any], constants: dict[Any, Any]) -> dict[Any, Any]:
    """Constants by position in the signature; by their own key where they have none there."""
    keys: list[Any] = []
    if row["syntax"] == "dict":
        keys = list(ast.literal_eval(row["text"].strip()))
    size = len(keys) or len(expected(row))
    out: dict[Any, Any] = {}
    for key, value in constants.items():
        index = key[0] if isinstance(key, tuple) else key
        if index in keys:
            out[keys.index(index)] = value
        else:
            out[index if isinstance(index, int) and index < size else str(index)] = value
    return out


def test_every_row_has_its_place() -> None:
    assert [one.source for one in SIGNATURES] == [f"signatures.jsonl:{n}:1" for n in range(1, len(ROWS) + 1)]
    assert [one.text for one in SIGNATURES] == [row["text"] for row in ROWS]


def test_what_is_refused() -> None:
    refused = {
        row["id"]: next(found["code"] for found in one.diagnostics if found["severity"] == "error")
        for row, one in zip(ROWS, SIGNATURES, strict=True)
        if not one.ok
    }
    assert refused == REFUSED
    assert len(refused) <= 30
    templates = {row["id"] for row in ROWS if row.get("template")}
    # Filled in by now, though the row says template: their text is complete.
    assert templates - set(refused) == {"sig-0117"}


def test_how_many_are_read() -> None:
    assert len(ROWS) == 548
    assert len(READ) == 520
    assert len({one.to_csv() for _, one in READ}) >= 200


@pytest.mark.parametrize("row", [row for row, _ in READ], ids=lambda row: row["id"])
def test_shape(row: dict[str, Any]) -> None:
    assert found(relaunch.parse(row["text"])) == expected(row)


@pytest.mark.parametrize(("row", "one"), READ, ids=lambda value: value["id"] if isinstance(value, dict) else "")
def test_written_and_read_again(row: dict[str, Any], one: Any) -> None:
    line = one.to_csv()
    tree = relaunch.parse(line)
    assert tree == one.tree
    assert tree.dump() == line
    (again,) = read_signatures(one.to_json().encode(), "again")
    assert again.form == "tree"
    assert again.tree == one.tree
    changed = {"source": "", "form": ""}
    assert json.loads(again.to_json()) | changed == json.loads(one.to_json()) | changed


def test_constants() -> None:
    checked = 0
    for row, one in READ:
        try:
            constants = ast.literal_eval(row.get("constants") or "{}")
        except (ValueError, SyntaxError):
            continue
        written = json.loads(one.to_json())
        positions = {i: p["value"] for i, p in enumerate(written["parameters"]) if "value" in p}
        aot = {i: value for i, (*_, value) in enumerate(expected(row)) if value is not None}
        assert positions | written["constants"] == owners(row, constants) | aot, row["id"]
        checked += bool(constants)
    assert checked == 67


def test_spans_are_the_types_in_the_text() -> None:
    for row, one in READ:
        text = row["text"].encode()
        for node in one.tree:
            assert node.span is not None
            piece = text[slice(*node.span)].decode()
            if node.type == relaunch.ARG_KERNEL and row["syntax"] != "params":
                assert piece == node.dtype, row["id"]
