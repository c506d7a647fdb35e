"""The Python side of released launchers for host tensor descriptors, frozen per dialect, 3.4 to 3.6.

What is called with a descriptor object is not the C launcher but a wrapper of it, which turns each descriptor into the
values that the expanded signature has in its place, and first encodes a tensor map where the kernel wants one.
Sources: facts of section 4 and 8 of the launcher ABI; recorded calls in tests/golden/descriptors-*.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relaunch.generator.dialects import facts
from relaunch.generator.facts import DescriptorFacts
from relaunch.generator.signature import LauncherSpec, is_descriptor

# Element types as metadata counts them, where the driver's CUtensorMapDataType has another number.
_DRIVER_TYPES: Mapping[int, int] = {8: 10, 9: 8, 10: 9}
_L2_PROMOTION = 2  # 128 bytes
_DESCRIPTOR_MEMBERS = ("base", "shape", "strides", "block_shape")


@dataclass(frozen=True)
class TensorMap:
    """What `cuTensorMapEncodeTiled` is asked for; the innermost dimension comes first, as the driver wants it."""

    data_type: int  # CUtensorMapDataType
    address: int
    dims: tuple[int, ...]  # elements
    strides: tuple[int, ...]  # bytes; one less than dims, the innermost is dense
    box: tuple[int, ...]  # elements
    element_strides: tuple[int, ...]
    swizzle: int
    oob_fill: int  # 1: NaN
    element_size: int  # bytes; not an argument of the driver's
    interleave: int = 0
    l2_promotion: int = _L2_PROMOTION

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.dims)


class EncodingRefusedError(Exception):
    """What `encode` raises where the driver refuses; `reason` is the driver's text of the status."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Encode = Callable[[TensorMap], Any]
"""Makes the object that the C launcher takes for a tensor map: to 3.4 one whose `tma_desc_cpu_ptr()` gives the address
of the 128 bytes, from 3.5 on a `PyCUtensorMap`. Raises EncodingRefusedError.
"""


def expand_arguments(spec: LauncherSpec, args: Sequence[Any], encode: Encode) -> list[Any]:
    """The values that the C launcher of `spec` takes for `args`, which may hold descriptor objects.

    Descriptors are encoded in order, so those before one that fails have been. Raises AssertionError where the last
    stride of a descriptor with metadata is not 1, RuntimeError where the driver refuses, what reading an object's
    members raises, and NotImplementedError for HIP's metadata, which is not recorded.
    """
    rules = facts(spec.dialect).descriptor
    meta = list(spec.tensordesc_meta or ())
    if meta and facts(spec.dialect).backend == "hip":
        raise NotImplementedError(f"{spec.dialect}: how descriptors with metadata are made is not recorded")
    values: list[Any] = []
    descriptors = 0
    for index, argument in enumerate(args):
        if not _is_one(rules, spec, index, argument):
            values.append(argument)
            continue
        values += _expanded(rules, argument, meta[descriptors] if meta else None, encode)
        descriptors += 1
    return values


def _is_one(rules: DescriptorFacts, spec: LauncherSpec, index: int, argument: Any) -> bool:
    if not rules.expanded:
        return False
    if rules.found_by == "class":  # Triton's own, which relaunch does without: by what it has
        return all(hasattr(argument, member) for member in _DESCRIPTOR_MEMBERS)
    return index < len(spec.signature) and is_descriptor(spec.signature[index])


def _expanded(rules: DescriptorFacts, argument: Any, meta: Mapping[str, Any] | None, encode: Encode) -> list[Any]:
    shape, strides = list(argument.shape), list(argument.strides)
    if meta is None:
        flags = [argument.padding == "nan"] if rules.padding else []
        return [argument.base, *shape, *strides, *flags, *shape, *strides]
    if rules.last_stride_is_one and strides[-1] != 1:
        raise AssertionError
    encoded = list(shape)
    if meta["fp4_padded"]:
        encoded[-1] *= 2
    size = meta["elem_size"]
    wanted = TensorMap(
        data_type=_DRIVER_TYPES.get(meta["elem_type"], meta["elem_type"]),
        address=argument.base.data_ptr(),
        dims=tuple(reversed(encoded)),
        strides=tuple(stride * size for stride in reversed(strides[:-1])),
        box=tuple(reversed(meta["block_size"])),
        element_strides=(1,) * len(encoded),
        swizzle=meta["swizzle"],
        oob_fill=int(bool(rules.padding) and argument.padding == "nan"),
        element_size=size,
    )
    try:
        made = encode(wanted)
    except EncodingRefusedError as refused:
        raise RuntimeError(_refusal(rules, wanted, refused.reason)) from None
    return [made, *(encoded if rules.doubles_packed_shape else shape), *strides]


def _refusal(rules: DescriptorFacts, wanted: TensorMap, reason: str) -> str:
    """The released text. The full one shows one stride more than there are: the bytes of the whole tensor."""
    if rules.encode_error == "short":
        return f"Triton Error [CUDA]: {reason}"
    whole = wanted.dims[-1] * (wanted.strides[-1] if wanted.strides else wanted.element_size)
    return (
        f"Triton Error [CUDA]: Failed to create tensor map descriptor: {reason}\n"
        f"elemType={wanted.data_type} rank={wanted.rank} global_address={wanted.address:#x} "
        f"elemSize={wanted.element_size} swizzle={wanted.swizzle} padding={wanted.oob_fill}\n"
        f"shape={list(wanted.dims)}\n"
        f"strides={[*wanted.strides, whole]}\n"
        f"blockSize={list(wanted.box)} elementStrides={list(wanted.element_strides)}\n"
    )
