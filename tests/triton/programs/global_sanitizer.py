"""The sanitizer of global memory passes parameters of its own at each launch, which Triton's launcher does."""

# Triton: 3.8-
# Backends: cuda
# Falls back: instrumentation_mode 'gsan'
# GPU: no, its clocks and shadows lie at addresses that are made up

import torch
import triton
import triton.language as tl
from triton.experimental.gsan import _allocator, _stream_sync


@triton.jit
def double(x, out, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places) * 2)


def main():
    asked = []

    def next_launch(device, *rest):
        asked.append((device, *rest))
        return torch.zeros(30, device="cuda", dtype=torch.int64), len(asked)

    _allocator.get_device_rank = lambda device: 3
    _allocator.get_global_state_pointer = lambda: 1 << 40
    _stream_sync.synchronize_launch_stream = _stream_sync.get_launch_state = next_launch  # 3.8, and 3.9
    x = torch.randn(512, device="cuda")
    out = torch.zeros_like(x)
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.instrumentation_mode = "gsan"
        for _ in range(2):
            double[(4,)](x, out, BLOCK=128)
    print(asked)
