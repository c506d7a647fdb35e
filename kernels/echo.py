"""Echo kernels: one for each parameter layout, which copies every parameter's bytes to where the host can read them.

A kernel takes exactly the parameters of its signature, hidden ones included, and nothing else; it writes to the
variable `SYMBOL` of its module. There lie words about the launch (`WORDS`), then the parameters in order, each at a
multiple of 8 bytes. Layouts come from the generator's frozen facts, never from a plan, so that plans can be judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from relaunch.generator.signature import leaves

from relaunch import generator

SYMBOL = "echoed"

# 32-bit words in front of the parameters, by name: how often the kernel's first thread ran, how many blocks did, and
# the special registers of PTX that hold the rest.
WORDS: Mapping[str, str] = {
    "launches": "",
    "blocks": "",
    **{f"grid_{axis}": f"%nctaid.{axis}" for axis in "xyz"},
    **{f"block_{axis}": f"%ntid.{axis}" for axis in "xyz"},
    "shared": "%dynamic_smem_size",
    **{f"cluster_{axis}": f"%cluster_nctaid.{axis}" for axis in "xyz"},
}
HEAD_BYTES = 64
_CUDA_TENSOR_MAP_ALIGNMENT = 64  # as Triton's kernels declare theirs
_AMD_DESCRIPTOR_ALIGNMENT = 4  # 32-bit words


@dataclass(frozen=True)
class Parameter:
    """One kernel parameter, in bytes."""

    size: int
    alignment: int


Layout: TypeAlias = tuple[Parameter, ...]


def layout(spec: generator.LauncherSpec) -> Layout:
    """What a kernel of this signature takes, hidden parameters last. Raises as `generator.expand`."""
    found = generator.facts(spec.dialect)
    taken = leaves(found, generator.expand(spec), spec.constants)
    by_value = _CUDA_TENSOR_MAP_ALIGNMENT if found.backend == "cuda" else _AMD_DESCRIPTOR_ALIGNMENT
    sizes = [leaf.type.kernel_size for leaf in taken if leaf.size] + [hidden.size for hidden in found.hidden]
    return tuple(Parameter(size, size if size <= 8 else by_value) for size in sizes)


def kernel_name(parameters: Layout) -> str:
    """The name of the layout's kernel; equal layouts share one."""
    text = ",".join(f"{one.size}:{one.alignment}" for one in parameters)
    return "echo_" + hashlib.sha256(text.encode()).hexdigest()[:16]


def places(parameters: Layout) -> list[int]:
    """Where each parameter lies in what a kernel writes."""
    found, end = [], HEAD_BYTES
    for one in parameters:
        found.append(end)
        end += -(-one.size // 8) * 8
    return found


def written_bytes(parameters: Layout) -> int:
    """How many bytes a kernel of the layout writes."""
    return HEAD_BYTES + sum(-(-one.size // 8) * 8 for one in parameters)


def ptx(layouts: Iterable[Layout], target: str = "sm_90") -> str:
    """One PTX module with a kernel for each distinct layout."""
    distinct = list(dict.fromkeys(layouts))
    room = max(map(written_bytes, distinct), default=HEAD_BYTES)
    head = f".version 8.1\n.target {target}\n.address_size 64\n.visible .global .align 16 .b8 {SYMBOL}[{room}];\n"
    return head + "".join(_ptx_kernel(one) for one in distinct)


def _ptx_kernel(parameters: Layout) -> str:
    declared = ",\n".join(f"  {_ptx_parameter(one, f'p{i}')}" for i, one in enumerate(parameters))
    lines = [
        f".visible .entry {kernel_name(parameters)}(\n{declared}\n)",
        "{",
        "  .reg .pred %other; .reg .b16 %half; .reg .b32 %word, %place; .reg .b64 %out, %wide;",
        f"  mov.u64 %out, {SYMBOL};",
        *_or_together("%tid.x", "%tid.y", "%tid.z"),
        "  setp.ne.u32 %other, %place, 0;",
        "  @%other ret;",
        "  atom.global.add.u32 %word, [%out+4], 1;",
        *_or_together("%ctaid.x", "%ctaid.y", "%ctaid.z"),
        "  setp.ne.u32 %other, %place, 0;",
        "  @%other ret;",
        "  atom.global.add.u32 %word, [%out], 1;",
    ]
    for i, register in enumerate(WORDS.values()):
        if register:
            lines += [f"  mov.u32 %word, {register};", f"  st.global.u32 [%out+{4 * i}], %word;"]
    for i, (one, place) in enumerate(zip(parameters, places(parameters), strict=True)):
        for at, width in _pieces(one.size):
            register = {1: "%half", 2: "%half", 4: "%word", 8: "%wide"}[width]
            lines += [
                f"  ld.param.u{8 * width} {register}, [p{i}+{at}];",
                f"  st.global.u{8 * width} [%out+{place + at}], {register};",
            ]
    return "\n".join([*lines, "  ret;", "}", ""])


def _or_together(*registers: str) -> list[str]:
    lines = [f"  mov.u32 %place, {registers[0]};"]
    for register in registers[1:]:
        lines += [f"  mov.u32 %word, {register};", "  or.b32 %place, %place, %word;"]
    return lines


def _ptx_parameter(one: Parameter, name: str) -> str:
    if one.size <= 8:
        return f".param .b{8 * one.size} {name}"
    return f".param .align {one.alignment} .b8 {name}[{one.size}]"


def _pieces(size: int) -> list[tuple[int, int]]:
    """(place, width) of the loads that a parameter takes; all are aligned to their width or to 4 bytes."""
    if size <= 8:
        return [(0, size)]
    return [(at, 4) for at in range(0, size, 4)]


_HIP_TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long"}


def hip(layouts: Iterable[Layout]) -> str:
    """One HIP source with a kernel for each distinct layout, for a clang without HIP's headers."""
    distinct = list(dict.fromkeys(layouts))
    room = max(map(written_bytes, distinct), default=HEAD_BYTES)
    blobs = sorted({one for parameters in distinct for one in parameters if one.size > 8}, key=lambda one: one.size)
    return "".join(
        [
            f"__attribute__((device, used, aligned(16))) unsigned char {SYMBOL}[{room}];\n",
            *(
                f"struct alignas({one.alignment}) {_hip_type(one)} {{ unsigned words[{one.size // 4}]; }};\n"
                for one in blobs
            ),
            *map(_hip_kernel, distinct),
        ]
    )


def _hip_type(one: Parameter) -> str:
    return _HIP_TYPES.get(one.size, f"blob_{one.size}_{one.alignment}")


def _hip_kernel(parameters: Layout) -> str:
    declared = ", ".join(f"{_hip_type(one)} p{i}" for i, one in enumerate(parameters))
    copies = [
        f"  *({_hip_type(one)} *)({SYMBOL} + {place}) = p{i};"
        for i, (one, place) in enumerate(zip(parameters, places(parameters), strict=True))
    ]
    first = "__builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workgroup_id_x()"
    head = f'extern "C" __attribute__((global)) void {kernel_name(parameters)}({declared}) {{'
    return "\n".join([head, f"  if ({first}) return;", *copies, "}", ""])
