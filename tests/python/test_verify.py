"""Signatures against compiled kernels: what fits, and that whatever moves a parameter is refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relaunch
from relaunch import KernelParameters, find_kernel, read_kernels, verify_kernel

BINARIES = Path(__file__).resolve().parents[1] / "binaries"
INDEX: list[dict[str, Any]] = [json.loads(line) for line in (BINARIES / "index.jsonl").read_text().splitlines()]

# (bytes, alignment) of a parameter, written down apart from the type table.
WIDTHS = {"i1": 1, "u1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "fp16": 2, "bf16": 2, "i32": 4, "u32": 4}
WIDTHS |= {"fp32": 4, "i64": 8, "u64": 8, "fp64": 8, "*fp32": 8, "*i8": 8}
HIDDEN = {"3.0": 0, "3.2": 0, "3.3": 1, "3.4": 1, "3.5": 2, "3.6": 2, "3.7": 2, "3.9": 2}

Entry = Any  # a type, or a list of entries: a tuple
Slot = tuple[int, int]


def text_of(entries: list[Entry]) -> str:
    """A signature as it is written: `*fp32, (i32, *fp16)`."""

    def one(entry: Entry) -> str:
        if not isinstance(entry, list):
            return str(entry)
        return f"({', '.join(map(one, entry))}{',' if len(entry) == 1 else ''})"

    return ", ".join(map(one, entries)) or "{}"


def parameters(entries: list[Entry], backend: str, by_value: bool) -> Iterator[Slot]:
    """Bytes and alignment of what the entries become, for 3.3 to 3.6."""
    for entry in entries:
        if isinstance(entry, list):
            yield from parameters(entry, backend, by_value)
        elif entry.startswith("tensordesc"):  # of two dimensions
            if by_value:
                yield (128, 64) if backend == "cuda" else (48, 4)
            else:
                yield from [(8, 8)] * 5 + [(1, 1)]
            yield from [(4, 4)] * 2 + [(8, 8)] * 2
        elif entry != "constexpr":
            yield (WIDTHS.get(entry, 8),) * 2


def layout(entries: list[Entry], release: str, backend: str, by_value: bool, base: int) -> list[tuple[int, int]]:
    """Offset and bytes of every parameter, hidden ones last."""
    out, end = [], base
    for size, alignment in [*parameters(entries, backend, by_value), *[(8, 8)] * HIDDEN[release]]:
        end = -(-end // alignment) * alignment
        out.append((end - base, size))
        end += size
    return out


def short(release: str) -> str:
    return release.rpartition(".")[0]


def case_name(case: dict[str, Any]) -> str:
    return str(case["file"])


def kernel_of(case: dict[str, Any]) -> KernelParameters:
    return find_kernel(read_kernels((BINARIES / case["file"]).read_bytes()), case["kernel"])


def entries_of(case: dict[str, Any]) -> list[Entry]:
    def bare(entry: Any) -> Entry:
        return [bare(each) for each in entry] if isinstance(entry, list) else entry

    return [bare(entry) for _, entry in case["signature"]]


def dialect_of(case: dict[str, Any]) -> str:
    return f"triton-{case['release']}-{case['backend']}"


@pytest.mark.parametrize("case", INDEX, ids=case_name)
def test_every_binary_fits_its_signature(case: dict[str, Any]) -> None:
    tree = relaunch.parse(text_of(entries_of(case)))
    found = verify_kernel(kernel_of(case), tree, dialect=dialect_of(case))
    assert found.fits, found.layouts
    meta = case["tensordesc_meta"] or []
    assert verify_kernel(kernel_of(case), tree, dialect=dialect_of(case), tensordesc_meta=meta).fits
    assert list(found.descriptors_by_value) == [bool(meta)] * len(found.descriptors_by_value)


def places(entries: list[Entry], path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Where every leaf stands."""
    for index, entry in enumerate(entries):
        if isinstance(entry, list):
            yield from places(entry, (*path, index))
        else:
            yield (*path, index)


def at(entries: list[Entry], path: tuple[int, ...]) -> Entry:
    for index in path:
        entries = entries[index]
    return entries


def put(entries: list[Entry], path: tuple[int, ...], change: Any) -> list[Entry]:
    """A copy in which `change(list, index)` was done to the list that holds the leaf."""
    out: list[Entry] = json.loads(json.dumps(entries))
    change(at(out, path[:-1]), path[-1])
    return out


def set_to(entry: Entry) -> Any:
    return lambda holder, index: holder.__setitem__(index, entry)


TYPES = ("i8", "i16", "i32", "i64", "fp16", "fp32", "fp64", "u1", "*i8", "constexpr")


def changed(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Every signature that is one change away: another type, two swapped, one dropped, one added."""
    leaves = list(places(entries))
    for place in leaves:
        for other in TYPES:
            if other != at(entries, place):
                yield put(entries, place, set_to(other))
                yield put(entries, place, lambda holder, index, other=other: holder.insert(index, other))
        yield put(entries, place, lambda holder, index: holder.pop(index))
    for one, two in itertools.combinations(leaves, 2):
        first, second = at(entries, one), at(entries, two)
        if first != second:
            yield put(put(entries, one, set_to(second)), two, set_to(first))
    for other in TYPES:
        yield [*entries, other]


@pytest.mark.parametrize("case", INDEX, ids=case_name)
def test_one_change_is_refused_where_it_moves_a_parameter(case: dict[str, Any]) -> None:
    kernel, release, backend = kernel_of(case), short(case["release"]), case["backend"]
    entries, base = entries_of(case), kernel.base
    right = layout(entries, release, backend, bool(case["tensordesc_meta"]), base)
    refused = accepted = 0
    for wrong in changed(entries):
        ways = (False,) if release in ("3.0", "3.3") or (release, backend) == ("3.5", "hip") else (False, True)
        same = any(layout(wrong, release, backend, way, base) == right for way in ways)
        found = verify_kernel(kernel, text_of(wrong), dialect=dialect_of(case))
        assert found.fits == same, f"{text_of(wrong)}\n{found.layouts}"
        accepted += found.fits
        refused += not found.fits
    assert refused > 40
    assert accepted > 0  # as wide a type in its place: sizes cannot tell


@pytest.mark.parametrize("case", INDEX, ids=case_name)
def test_a_missing_hidden_parameter_is_refused(case: dict[str, Any]) -> None:
    tree = relaunch.parse(text_of(entries_of(case)))
    for release, count in HIDDEN.items():
        if "tensordesc" in text_of(entries_of(case)) and release not in ("3.5", "3.6"):
            continue  # other expansions, or none
        if any(isinstance(entry, list) for entry in entries_of(case)) and release in ("3.0", "3.2"):
            continue  # no tuples there
        found = verify_kernel(kernel_of(case), tree, dialect=f"triton-{release}-{case['backend']}")
        assert found.fits == (count == HIDDEN[short(case["release"])]), found.layouts


@pytest.mark.parametrize("case", [c for c in INDEX if c["kernel"] == "add"], ids=case_name)
def test_the_other_backend_is_refused(case: dict[str, Any]) -> None:
    other = {"cuda": "hip", "hip": "cuda"}[case["backend"]]
    dialect = f"triton-{short(case['release'])}-{other}"
    found = verify_kernel(kernel_of(case), text_of(entries_of(case)), dialect=dialect)
    names = {"cuda": "CUDA", "hip": "HIP"}
    assert not found.fits
    assert found.difference is None
    assert found.message == (f"it is compiled for {names[case['backend']]}, and {dialect} launches on {names[other]}")


# --- Kernels that were never compiled -------------------------------------------------------------

WORDS = {1: ".u8", 2: ".b16", 4: ".f32", 8: ".u64 .ptr .global .align 1"}
LEAVES = st.sampled_from(list(WIDTHS))
SIGNATURES = st.lists(st.one_of(LEAVES, st.lists(LEAVES, min_size=1, max_size=3)), max_size=12)


def ptx(slots: list[Slot]) -> bytes:
    declared = ",\n".join(f"\t.param {WORDS[size]} k_param_{i}" for i, (size, _) in enumerate(slots))
    return f".version 8.0\n.target sm_90\n.visible .entry k(\n{declared}\n)\n{{ ret; }}\n".encode()


@settings(max_examples=300)
@given(SIGNATURES, SIGNATURES, st.sampled_from(["3.3", "3.4", "3.5", "3.6", "3.7", "3.9"]))
def test_fits_exactly_where_sizes_and_offsets_agree(one: list[Entry], two: list[Entry], release: str) -> None:
    slots = [*parameters(one, "cuda", False), *[(8, 8)] * HIDDEN[release]]
    (kernel,) = read_kernels(ptx(slots))
    right = layout(one, release, "cuda", False, 0)
    assert [(each["offset"], each["size"]) for each in kernel.parameters] == right
    dialect = f"triton-{release}-cuda"
    assert verify_kernel(kernel, text_of(one), dialect=dialect).fits
    same = layout(two, release, "cuda", False, 0) == right
    assert verify_kernel(kernel, text_of(two), dialect=dialect).fits == same


def test_constants_are_no_parameters() -> None:
    (kernel,) = read_kernels(ptx([(8, 8), (4, 4)]))
    signature = "*fp32, constexpr, i64, i32"
    assert not verify_kernel(kernel, signature, dialect="triton-3.0-cuda").fits
    assert verify_kernel(kernel, signature, dialect="triton-3.0-cuda", constants=[2]).fits
    assert verify_kernel(kernel, "*fp32, constexpr, i64=1, i32", dialect="triton-3.2-cuda").fits
    with pytest.raises(relaunch.BindError, match="folds no constants"):
        verify_kernel(kernel, signature, dialect="triton-3.6-cuda", constants=[2])
    with pytest.raises(relaunch.BindError, match="index 9 is none of the 3 entries"):
        verify_kernel(kernel, signature, dialect="triton-3.0-cuda", constants=[9])


def test_what_python_may_hand_over() -> None:
    content = (BINARIES / "add-3.6.0-sm90.cubin").read_bytes()
    for buffer in (content, bytearray(content), memoryview(content)):
        assert repr(read_kernels(buffer)) == "[<KernelParameters of 'add': 6 in 48 bytes>]"
    with pytest.raises(TypeError):
        read_kernels("text")  # type: ignore[arg-type]
    for made_elsewhere in (KernelParameters, relaunch.Verification):
        with pytest.raises(TypeError):
            made_elsewhere.__new__(made_elsewhere)
    with pytest.raises(relaunch.BinaryError) as caught:
        read_kernels(content[:1000])
    error = caught.value
    assert (error.fault, error.offset, error.line, error.kernel) == ("truncated", 2240, None, None)
    assert (error.expected, error.found) == ("a section table of 64 bytes", "the end at byte 1000")
    assert str(error) == (
        "byte 2240: expected a section table of 64 bytes, found the end at byte 1000; "
        "the file is cut off or damaged: compile the kernel again"
    )
