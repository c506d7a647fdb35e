"""Codes and their page, and the warnings of signatures that are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from relaunch._core import read_signatures

ROOT = Path(__file__).parents[3]
CODES = dict(re.findall(r"RELAUNCH_CODE\((\w+), \"(RL\d+)\"\)", (ROOT / "migrate" / "codes.def").read_text()))
PAGE = (ROOT / "docs" / "diagnostics.md").read_text()


def test_the_page_has_every_code_and_no_other() -> None:
    documented = re.findall(r"^### (RL\d+)$", PAGE, re.MULTILINE)
    assert documented == sorted(CODES.values())


@pytest.mark.parametrize("code", sorted(CODES.values()))
def test_a_code_says_what_why_and_how(code: str) -> None:
    section = PAGE.split(f"### {code}\n")[1].split("\n#")[0]
    for part in ("**What:**", "**At launch:**", "**Mend:**", "**Fix:**"):
        assert section.count(part) == 1


def test_the_page_says_which_are_never_fixed() -> None:
    rules = dict(re.findall(r"\{(k\w+), (\w+), (?:\"|k[A-Z])", (ROOT / "migrate" / "remedy.cpp").read_text()))
    assert sorted(rules) == sorted(CODES)
    never = [code for name, code in CODES.items() if rules[name] == "nullptr"]
    assert [
        code for code in sorted(CODES.values()) if re.search(rf"### {code}\n[^#]*\*\*Fix:\*\*\snone", PAGE)
    ] == sorted(never)


def test_every_code_is_used() -> None:
    sources = "".join(file.read_text() for file in (ROOT / "migrate").glob("*.cpp"))
    assert [name for name in CODES if name not in sources] == []


def warnings(text: str) -> list[tuple[str, str]]:
    """Code and the text underlined, for each warning of one signature."""
    (one,) = read_signatures(text.encode(), "f")
    assert one.ok
    return [(found["code"], one.text.encode()[slice(*found["span"])].decode()) for found in one.diagnostics]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*fp32, i32, u8, fp64, *i1, *fp8e5, *void, constexpr", []),
        ("i32, fp8e4nv, void", [("RL106", "fp8e4nv")]),
        ("u1, i1, u1", [("RL107", "u1")]),
        ("(i32, i8), i8", [("RL108", "i8")]),
        ("bf16, fp16", [("RL109", "bf16")]),
        ("(tensordesc<fp16[4]>, i32), tensordesc<fp16[4]>", [("RL110", "tensordesc<fp16[4]>")]),
        ("tensordesc<fp16[4, 4]>, i32, i32, i64, i64", [("RL111", "tensordesc<fp16[4, 4]>")]),
        ("tensordesc<fp16[4, 4]>, i32, i32, i64, i32", []),
        ("tensordesc<fp16[4, 4]>, i32, i32, i64", []),
        ("*fp32:16, i32:1", [("RL105", "1")]),
        ("x: i32:1", []),
        ('{"text": "{0: \'i32\', 1: \'*i8\'}", "constants": "{1: None}"}', [("RL112", "*i8")]),
        ('{"text": "{\'a\': \'constexpr\'}", "constants": "{0: 4}"}', []),
        ("%x: i32 {tt.divisibility = 4 : i32}", [("RL103", "tt.divisibility = 4 : i32")]),
        ("*f32, (i32, float16, * half), int64", [("RL109", "float16"), ("RL113", "*f32")]),
        ("[torch.float32, 16]", []),
        ("%x: !tt.ptr<f32>, %y: f32", []),
        ("i1, i8, fp16", [("RL107", "i1"), ("RL108", "i8"), ("RL109", "fp16")]),
    ],
)
def test_warnings(text: str, expected: list[tuple[str, str]]) -> None:
    assert warnings(text) == expected
