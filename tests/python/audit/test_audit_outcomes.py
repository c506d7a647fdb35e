"""`relaunch audit` on a cache as Triton writes it: outcomes, totals, forms of output, exit statuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from relaunch.audit import moving
from relaunch.audit.signatures import plain
from relaunch.differential.divergence import possible
from relaunch.generator import contract

import relaunch
from relaunch import generator

Records = Callable[..., tuple[list[dict[str, Any]], dict[str, Any], int]]
Audit = Callable[..., Any]

FROM = ("--from", "triton-3.0-cuda", "--from", "triton-3.0-hip")


def test_every_kernel_fits_its_own_launcher(cache: Path, records: Records) -> None:
    kernels, summary, code = records(cache, *FROM)
    assert code == 1
    assert summary["totals"] == {"moves": 26, "diverges": 8, "recompile": 0, "misfit": 0, "unreadable": 0}
    assert [one["verified"] for one in kernels] == [
        ["cubin", "ptx"] if "cuda" in one["dialect"] else ["hsaco", "amdgcn"] for one in kernels
    ]
    assert {one["kernel"] for one in kernels if one["outcome"] == "diverges"} == {"scalars"}
    assert [one["key"] for one in kernels] == sorted(one["key"] for one in kernels)
    assert not any(one["findings"] for one in kernels)


def test_what_is_met_is_what_the_list_says(cache: Path, records: Records) -> None:
    """Of all entries that `compare legacy precompiled` names, those that not every call meets."""
    kernels, summary, _ = records(cache, *FROM)
    for one in kernels:
        types = plain(relaunch.parse(one["signature"]))
        found = {entry.id for entry in possible(one["dialect"], contract.expanded(one["dialect"], types))}
        assert found - set(summary["everywhere"][one["dialect"]]) == set(one["meets"]), one["key"]
    assert {one["id"] for one in summary["met"]} == {"D03", "D04", "D14", "D15", "D16"}


def test_releases_that_are_not_named_are_not_guessed(cache: Path, records: Records) -> None:
    kernels, summary, code = records(cache)
    assert code == 1
    assert summary["totals"]["unreadable"] == 6
    found = {(one["kernel"], one["dialect"], one["findings"][0]["message"]) for one in kernels if one["findings"]}
    messages = [f"the release that compiled it for {one} is not named: say it with --from" for one in ("cuda", "hip")]
    assert found == {(name, None, message) for name in ("add", "matmul", "scalars") for message in messages}


def test_another_dialect(cache: Path, records: Records) -> None:
    kernels, summary, code = records(cache, *FROM, "--to", "triton-3.6.0-cuda")
    assert code == 1
    assert summary["to"] == "triton-3.6-cuda"
    assert summary["dialects"] == {
        "triton-3.0-cuda": {"recompile": 3},
        "triton-3.0-hip": {"recompile": 3},
        "triton-3.3-cuda": {"recompile": 4},
        "triton-3.3-hip": {"recompile": 4},
        "triton-3.5-cuda": {"moves": 4, "diverges": 1},
        "triton-3.5-hip": {"recompile": 5},
        "triton-3.6-cuda": {"moves": 5},
        "triton-3.6-hip": {"recompile": 5},
    }
    by_dialect = {one["dialect"]: one for one in kernels if one["kernel"] == "add"}
    hidden = (
        "parameter 5 'profile_scratch' (hidden) has 8 bytes at offset 40 by the signature, "
        "and the kernel has no such parameter"
    )
    assert by_dialect["triton-3.3-cuda"]["findings"] == [
        {"file": "add.cubin", "message": hidden},
        {"file": "add.ptx", "message": hidden},
    ]
    assert by_dialect["triton-3.6-hip"]["findings"] == [
        {"file": "", "message": "triton-3.6-cuda launches no kernels of triton-3.6-hip"}
    ]


def test_all_kernels_move(kernel: Path, records: Records) -> None:
    kernels, summary, code = records(kernel.parent)
    assert code == 0
    assert kernels == [
        {
            "key": "k/add.json",
            "kernel": "add",
            "outcome": "moves",
            "dialect": "triton-3.6-cuda",
            "form": "ttir",
            "signature": "x_0: *fp32, y_1: *fp32, out_2: *fp32, n_3: i32",
            "verified": ["cubin", "ptx"],
            "meets": [],
            "findings": [],
            "to": "precompiled",
        }
    ]
    assert summary["totals"]["moves"] == summary["kernels"] == 1


def test_a_signature_that_does_not_fit(kernel: Path, records: Records) -> None:
    (kernel / "add.ttir").write_text((kernel / "add.ttir").read_text().replace("%n_3: i32", "%n_3: i64"))
    kernels, _, code = records(kernel.parent)
    assert code == 1
    message = "parameter 3 'n_3' (i64) has 8 bytes at offset 24 by the signature, 4 bytes at offset 24 in the kernel"
    assert kernels[0]["outcome"] == "misfit"
    assert kernels[0]["findings"] == [{"file": name, "message": message} for name in ("add.cubin", "add.ptx")]
    assert kernels[0]["verified"] == []


def test_a_signature_in_the_metadata_is_the_signature(kernel: Path, records: Records) -> None:
    path = kernel / "add.json"
    known = json.loads(path.read_text())
    path.write_text(
        json.dumps(known | {"signature": {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "u32", "B": "constexpr"}})
    )
    kernels, _, code = records(kernel.parent)
    assert (code, kernels[0]["form"]) == (0, "cache")
    assert kernels[0]["signature"] == "x: *fp32, y: *fp32, out: *fp32, n: u32, B: constexpr"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("add.ttir", b"module {\n  tt.func public @add(%x: !tt.what) {\n", "RL"),
        ("add.ttir", None, "no signature: neither its metadata has one, nor is there a .ttir or .ttgir beside it"),
        ("add.json", b'{"num_warps": 4, "sha', "no JSON: Unterminated string starting at: line 1 column 18 (char 17)"),
        ("add.json", b"[" * 100_000, "JSON nested too deep"),
        (
            "add.json",
            b'{"num_warps": 4, "shared": 0, "name": "other", "triton_version": "3.6.0"}',
            "expected a kernel 'other', found 'add'",
        ),
        ("add.cubin", b"\x7fELF", "byte 0: expected an ELF header of 64 bytes, found 4 bytes before the end"),
    ],
)
def test_what_cannot_be_read_is_said(
    kernel: Path, file: str, content: bytes | None, message: str, records: Records
) -> None:
    path = kernel / file
    path.unlink() if content is None else path.write_bytes(content)
    kernels, summary, code = records(kernel.parent)
    assert (code, summary["totals"]["unreadable"]) == (1, 1)
    assert any(message in found["message"] for found in kernels[0]["findings"]), kernels[0]["findings"]


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ("4.0.0", "there is no dialect for Triton 4.0.0 on cuda"),
        ("main", "there is no dialect for Triton main on cuda"),
        ("3.60", "there is no dialect for Triton 3.60 on cuda"),
    ],
)
def test_a_release_that_is_not_known(kernel: Path, release: str, message: str, records: Records) -> None:
    path = kernel / "add.json"
    path.write_text(path.read_text().replace("3.6.0", release))
    kernels, _, _ = records(kernel.parent)
    assert [found["message"] for found in kernels[0]["findings"]] == [message]


def test_a_build_of_a_release(kernel: Path, records: Records) -> None:
    path = kernel / "add.json"
    path.write_text(path.read_text().replace("3.6.0", "3.6.0+git12ab"))
    assert records(kernel.parent)[0][0]["dialect"] == "triton-3.6-cuda"


def test_sources(tmp_path: Path, records: Records) -> None:
    """Signatures in Python, C and MLIR are judged without a binary; other files are passed over."""
    (tmp_path / "a.py").write_text(
        "src = ASTSource(fn=k, signature={'x': '*fp32', 'n': 'i8'}, constants={})\n"
        "triton_meta={'signature': {'x': '*fp32'}, 'constants': {}}\n"
    )
    (tmp_path / "b.mlir").write_text("module {\n  tt.func public @k(%a: !tt.ptr<f32>) {\n  }\n}\n")
    (tmp_path / "none.py").write_text("import os\n")
    # Names alone are no signatures.
    (tmp_path / "names.py").write_text(
        "from triton.compiler import ASTSource\nf(triton_meta=triton_meta, meta=ASTSource)\n"
    )
    (tmp_path / "package.json").write_text('{"name": "x", "version": "3.6.0"}')
    (tmp_path / "broken.json").write_text("{")
    kernels, summary, code = records(tmp_path, "--from", "triton-3.6-cuda")
    assert code == 1
    assert [(one["key"], one["form"], one["outcome"], one["meets"]) for one in kernels] == [
        ("a.py:1:7", "ast", "diverges", ["D03"]),
        ("a.py:2:1", "inductor", "moves", []),
        ("b.mlir:2:3", "ttir", "moves", []),
    ]
    assert summary["unverified"] == 3
    assert records(tmp_path)[1]["totals"]["unreadable"] == 3


def test_kinds_are_enough() -> None:
    """What is found for the example of a signature is what is found for the signature."""
    texts = ["*fp32, i8, (i32, (*fp16, fp16)), u64", "*i8", "", "fp16, bf16, i16", "(i8, i8), *fp64, constexpr"]
    for dialect in ("triton-3.3-cuda", "triton-3.6-hip", "triton-3.9-cuda"):
        for text in texts:
            types = plain(relaunch.parse(text)) if text else ()
            met = [one.id for one in possible(dialect, contract.expanded(dialect, moving.example(types)))]
            assert met == [one.id for one in possible(dialect, contract.expanded(dialect, types))]
            to = "triton-3.4-hip" if generator.facts(dialect).backend == "hip" else "triton-3.4-cuda"
            told = [
                {
                    (one.topic, one.item)
                    for one in contract.compare(dialect, to, given).differences
                    if one.topic != "parameters"
                }
                for given in (types, moving.example(types))
            ]
            assert told[0] == told[1]


def test_table(kernel: Path, audit: Audit) -> None:
    result = audit(kernel.parent)
    assert result.exit_code == 0
    assert "triton-3.6-cuda       1          0           0        0            0         1" in result.stdout
    assert "any call from triton-3.6-cuda can also meet D01, D02, D05, D06, D08, D09, D12" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "triton-2.0-cuda"), "relaunch audit: "),
        (
            ("--from", "triton-3.6-cuda", "--from", "triton-3.5-cuda"),
            "relaunch audit: --from names one dialect of each backend",
        ),
        (("--state", "{tmp}/cache/k/add.ttir"), "no state of an audit: it begins with '#loc = "),
        (("--html", "{tmp}/none/page.html"), "No such file or directory"),
        (("--jobs", "0"), "Invalid value for '--jobs'"),
    ],
)
def test_wrong_usage(kernel: Path, tmp_path: Path, arguments: tuple[str, ...], message: str, audit: Audit) -> None:
    result = audit(kernel.parent, *(one.format(tmp=tmp_path) for one in arguments))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_no_folder(tmp_path: Path, audit: Audit) -> None:
    result = audit(tmp_path / "none")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"relaunch audit: {tmp_path / 'none'}: No such file or directory\n"


def test_page(cache: Path, tmp_path: Path, audit: Audit) -> None:
    """It stands alone, holds every kernel, and text of a tree cannot become markup."""
    place = tmp_path / "</script><b>"
    shutil.copytree(cache, place / "<" / "script><b>")
    page = tmp_path / "page.html"
    assert audit(place, *FROM, "--html", page).exit_code == 1
    text = page.read_text("utf-8")
    assert [word for word in ("http:", "https:", "src=", "</script><b>") if word in text] == []
    assert text.count("</script>") == 1
    rows = text.split("const rows = [\n")[1].split("];\n")[0].splitlines()
    assert len([json.loads(row.rstrip(",")) for row in rows]) == 34
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("page")] == ["page.html"]
