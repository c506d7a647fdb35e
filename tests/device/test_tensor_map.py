"""Tiles loaded through tensor maps that relaunch had the driver make, passed by value to a kernel."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import relaunch

ROWS, COLUMNS = 8, 16  # of a tile
META = {"swizzle": 0, "elem_size": 4, "elem_type": 7, "block_size": [ROWS, COLUMNS], "fp4_padded": False}
DIALECTS = ["triton-3.4-cuda", "triton-3.5-cuda", "triton-3.6-cuda", "triton-3.7-cuda", "triton-3.9-cuda"]
SIGNATURE = "tensordesc<fp32[8, 16]>, *fp32, *i64, i32, i32"
# The last two reach beyond the tensor. Tiles begin at multiples of 16 bytes: at others an H200 stops the kernel.
PLACES = [(0, 0), (5, 8), (40, 48), (-3, -4), (47, 60)]


@dataclasses.dataclass
class Descriptor:
    """As Triton's TensorDescriptor."""

    base: Any
    shape: Any
    strides: Any
    padding: str = "zero"
    round_f32_to_tf32: bool = False


@dataclasses.dataclass
class Loader:
    """A launcher of the kernel that loads a tile, and what it is loaded from: 50 of 50 rows, 70 of 72 columns."""

    launcher: relaunch.Launcher
    tensor: Any

    def load(self, row: int, column: int, *descriptor: Any) -> tuple[Any, list[int]]:
        """The tile as the kernel saw it, and the sizes and strides that it was given."""
        import torch

        out = torch.full((ROWS, COLUMNS), -7.0, device="cuda")
        seen = torch.zeros(4, dtype=torch.int64, device="cuda")
        stream = torch.cuda.current_stream().cuda_stream
        self.launcher(1, 1, 1, stream, *descriptor, out, seen, row, column)
        torch.cuda.synchronize()
        return out, seen.tolist()

    def tile(self, row: int, column: int, outside: float) -> Any:
        """What the tile should be."""
        import torch

        wanted = torch.full((ROWS, COLUMNS), outside, device="cuda")
        height, width = self.tensor.shape
        for i in range(max(0, -row), min(ROWS, height - row)):
            for j in range(max(0, -column), min(COLUMNS, width - column)):
                wanted[i, j] = self.tensor[row + i, column + j]
        return wanted


@pytest.fixture(params=DIALECTS)
def loader(request: pytest.FixtureRequest, device: Any, cubin: Any) -> Loader:
    import torch

    dialect = request.param
    kernel = "load_tile_before_3_5" if dialect == "triton-3.4-cuda" else "load_tile"
    function = device.load(cubin("load_tile"), kernel)
    launcher = relaunch.Launcher(SIGNATURE, dialect=dialect, function=function, name=kernel, tensordesc_meta=[META])
    return Loader(launcher, torch.randn(50, 72, device="cuda")[:, :70])


@pytest.mark.parametrize(("row", "column"), PLACES)
def test_maps_that_are_given(loader: Loader, row: int, column: int) -> None:
    height, width = loader.tensor.shape
    made = relaunch.TensorMap.encode(
        data_type=7,  # CU_TENSOR_MAP_DATA_TYPE_FLOAT32
        address=loader.tensor.data_ptr(),
        dims=[width, height],
        strides=[loader.tensor.stride(0) * 4],
        box=[COLUMNS, ROWS],
    )
    assert bytes(made) != bytes(128)
    for given in (made, relaunch.TensorMap(bytes(made))):
        out, seen = loader.load(row, column, given, height, width, *loader.tensor.stride())
        assert seen == [50, 70, 72, 1]
        assert out.equal(loader.tile(row, column, 0.0))


@pytest.mark.parametrize(("row", "column"), PLACES)
def test_descriptor_objects(loader: Loader, row: int, column: int) -> None:
    import torch

    for padding in ("zero", "nan"):
        given = Descriptor(loader.tensor, loader.tensor.shape, loader.tensor.stride(), padding)
        out, seen = loader.load(row, column, given)
        assert seen == [50, 70, 72, 1]
        # 3.4 has no padding of its own.
        outside = float("nan") if padding == "nan" and loader.launcher.dialect != "triton-3.4-cuda" else 0.0
        assert torch.allclose(out, loader.tile(row, column, outside), rtol=0, atol=0, equal_nan=True)


def test_rounding_to_tf32(loader: Loader) -> None:
    """From 3.7 on: 10 bits of a loaded number's fraction are kept; exact values stay."""
    given = Descriptor(loader.tensor, loader.tensor.shape, loader.tensor.stride(), round_f32_to_tf32=True)
    out, _ = loader.load(0, 0, given)
    wanted = loader.tile(0, 0, 0.0)
    if loader.launcher.dialect in ("triton-3.7-cuda", "triton-3.9-cuda"):
        assert (out - wanted).abs().max().item() <= wanted.abs().max().item() * 2**-10
    else:
        assert out.equal(wanted)


def test_what_the_driver_refuses(loader: Loader) -> None:
    """An address that is no multiple of 16 bytes: the error says what was asked for, and nothing is launched."""
    given = Descriptor(loader.tensor[:, 1:], loader.tensor.shape, loader.tensor.stride())
    with pytest.raises(RuntimeError) as caught:
        loader.load(0, 0, given)
    text = "Triton Error [CUDA]: invalid argument (1 from cuTensorMapEncodeTiled): descriptor 1 of "
    assert str(caught.value).startswith(text + loader.launcher.name)
    assert str(caught.value).endswith(", dims (70, 50), strides (288), box (16, 8), swizzle 0, fill 0")
    out, _ = loader.load(0, 0, Descriptor(loader.tensor, loader.tensor.shape, loader.tensor.stride()))
    assert out.equal(loader.tile(0, 0, 0.0))
