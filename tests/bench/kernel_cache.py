"""A Triton cache of any number of kernels, all with other bytes, names and signatures, and what an audit must find.

    python tests/bench/kernel_cache.py DIR --kernels 100000

Each kernel has a folder of its own with the files that Triton writes: metadata, its group, TTIR, PTX and a cubin with
a parameter table (no code: nothing runs it). One in 100 does not fit its signature, one in 200 is cut short. The same
number of kernels and seed gives the same files. The totals that `relaunch audit DIR` must find are printed as JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import struct
from collections import Counter
from pathlib import Path

TYPES = {  # of Triton: IR's spelling, PTX's, and bytes
    "*fp32": ("!tt.ptr<f32>", "u64", 8),
    "*fp16": ("!tt.ptr<f16>", "u64", 8),
    "*bf16": ("!tt.ptr<bf16>", "u64", 8),
    "*i64": ("!tt.ptr<i64>", "u64", 8),
    "i32": ("i32", "u32", 4),
    "i64": ("i64", "u64", 8),
    "fp32": ("f32", "f32", 4),
    "i1": ("i1", "s8", 1),
    "i16": ("i16", "u16", 2),
    "fp16": ("f16", "b16", 2),
    "i8": ("i8", "u8", 1),
}
PLAIN = ("*fp32", "*fp16", "*bf16", "*i64", "i32", "i64", "fp32", "i1", "i16")
DIVERGING = ("fp16", "i8")  # of which calls can meet a wanted difference in each of these releases
RELEASES = {"3.3.1": 1, "3.5.1": 2, "3.6.0": 2}  # and how many hidden parameters each has on CUDA

MACHINE_CUDA = 190
BANK_BASE = 0x210
KPARAM_INFO, CBANK_PARAM_SIZE, PARAM_CBANK = 0x17, 0x19, 0x0A


def layout(types: list[str], hidden: int) -> list[tuple[int, int]]:
    """Offset and size of every parameter, hidden ones last."""
    at = 0
    places = []
    for size in [TYPES[one][2] for one in types] + [8] * hidden:
        at = (at + size - 1) // size * size
        places.append((at, size))
        at += size
    return places


def sized_record(attribute: int, value: bytes) -> bytes:
    """A record of `.nv.info`."""
    return struct.pack("<BBH", 4, attribute, len(value)) + value


def cubin(name: str, places: list[tuple[int, int]], code: bytes) -> bytes:
    """An ELF file with a kernel's parameter records, its constant bank, and bytes in place of its code."""
    end = places[-1][0] + places[-1][1]
    info = sized_record(PARAM_CBANK, struct.pack("<IHH", 0, BANK_BASE, end))
    info += struct.pack("<BBH", 3, CBANK_PARAM_SIZE, end)
    for ordinal, (offset, size) in reversed(list(enumerate(places))):
        info += sized_record(KPARAM_INFO, struct.pack("<IHHI", 0, ordinal, offset, size << 18 | 0x1F000))
    sections = [
        (".shstrtab", 3, 0, b""),
        (f".nv.info.{name}", 0x70000000, 3, info),
        (f".text.{name}", 1, 0, code),
        (f".nv.constant0.{name}", 1, 3, bytes(BANK_BASE + end)),
    ]
    names = b"\0" + b"".join(title.encode() + b"\0" for title, *_ in sections)
    sections[0] = (".shstrtab", 3, 0, names)
    body = b""
    table = bytes(64)
    for title, kind, link, content in sections:
        at = names.index(b"\0" + title.encode() + b"\0") + 1
        table += struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, 64 + len(body), len(content), 0, link, 1, 0)
        body += content + bytes(-len(content) % 8)
    head = b"\x7fELF" + bytes((2, 1, 1, 0x33, 7)) + bytes(7)
    head += struct.pack("<HHIQQQIHHHHHH", 2, MACHINE_CUDA, 1, 0, 0, 64 + len(body), 90, 64, 56, 0, 64, 5, 1)
    return head + body + table


def ttir(name: str, types: list[str]) -> str:
    """A module with the kernel's function."""
    parameters = ", ".join(f'%a{n}: {TYPES[one][0]} loc("a{n}"(#loc))' for n, one in enumerate(types))
    return (
        f'#loc = loc("/src/{name}.py":10:0)\nmodule {{\n  tt.func public @{name}({parameters}) '
        "attributes {noinline = false} {\n"
        + "    %c = arith.constant 1 : i32 loc(#loc)\n" * 20
        + "    tt.return loc(#loc)\n  } loc(#loc)\n} loc(#loc)\n"
    )


def ptx(name: str, types: list[str], hidden: int) -> str:
    """An entry that returns."""
    words = [TYPES[one][1] for one in types] + ["u64"] * hidden
    parameters = ",\n".join(f"\t.param .{word} {name}_param_{n}" for n, word in enumerate(words))
    loads = "".join(f"\tadd.s32 \t%r{n}, %r{n}, {n};\n" for n in range(60))
    return (
        ".version 8.7\n.target sm_90a\n.address_size 64\n\n"
        f"\t// .globl\t{name}\n.visible .entry {name}(\n{parameters}\n)\n.reqntid 128\n{{\n"
        f"\t.reg .b32 \t%r<60>;\n{loads}\tret;\n}}\n"
    )


def metadata(name: str, release: str, key: str) -> dict[str, object]:
    """As many entries as Triton's own have."""
    return {
        "hash": key,
        "target": {"backend": "cuda", "arch": 90, "warp_size": 32},
        "num_warps": 4,
        "num_ctas": 1,
        "num_stages": 3,
        "maxnreg": None,
        "cluster_dims": [1, 1, 1],
        "enable_fp_fusion": True,
        "launch_cooperative_grid": False,
        "supported_fp8_dtypes": ["fp8e4b15", "fp8e4nv", "fp8e5"],
        "default_dot_input_precision": "tf32",
        "allowed_dot_input_precisions": ["tf32", "tf32x3", "ieee"],
        "extern_libs": [["libdevice", "/lib/libdevice.10.bc"]],
        "debug": False,
        "backend_name": "cuda",
        "sanitize_overflow": True,
        "arch": "sm90",
        "triton_version": release,
        "shared": 0,
        "tmem_size": 0,
        "global_scratch_size": 0,
        "global_scratch_align": 1,
        "name": name,
    }


def signature(number: int, source: random.Random) -> list[str]:
    """Types that no other number has: its digits in base 9, each a type, after a few that chance picks."""
    diverging = source.random() < 0.1
    types = ["*fp32", *source.choices(PLAIN, k=source.randrange(6)), "i64", "i64"]
    if diverging:
        types.append(source.choice(DIVERGING))
    digits = []
    for _ in range(6):
        number, digit = divmod(number, len(PLAIN))
        digits.append(PLAIN[digit])
    return [*types, "fp32", *digits]


def write_kernel(root: Path, number: int, source: random.Random) -> str:
    """One kernel's folder; the outcome that an audit must find."""
    name = f"kernel_{number:06}"
    release, hidden = source.choice(list(RELEASES.items()))
    types = signature(number, source)
    key = hashlib.sha256(f"{number} {types}".encode()).hexdigest()
    folder = root / key
    folder.mkdir()
    wrong = number % 100 == 7
    short = number % 200 == 11
    places = layout([*types, "i64"] if wrong else types, hidden)
    binary = cubin(name, places, source.randbytes(1024))
    files = {
        f"{name}.json": json.dumps(metadata(name, release, key)).encode(),
        f"__grp__{name}.json": json.dumps({"child_paths": {f"{name}.cubin": f"/cache/{key}/{name}.cubin"}}).encode(),
        f"{name}.ttir": ttir(name, types).encode(),
        f"{name}.ptx": ptx(name, types, hidden).encode(),
        f"{name}.cubin": binary[: len(binary) // 2] if short else binary,
    }
    for file, content in files.items():
        (folder / file).write_bytes(content)
    if wrong:
        return "misfit"
    return "unreadable" if short else "diverges" if set(types) & set(DIVERGING) else "moves"


def write(root: Path, kernels: int, seed: int = 0) -> dict[str, int]:
    """A cache below a new folder; how many kernels an audit must find of each outcome."""
    root.mkdir(parents=True)
    source = random.Random(seed)
    return dict(Counter(write_kernel(root, number, source) for number in range(kernels)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a cache of kernels for `relaunch audit`.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kernels", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(json.dumps(write(given.folder, given.kernels, given.seed)))


if __name__ == "__main__":
    main()
