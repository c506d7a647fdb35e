"""Hooks at compilation and at loading."""

# Triton: 3.5-

import torch
import triton
import triton.language as tl


@triton.jit
def store(out, value):
    tl.store(out, value)


def main():
    runtime = triton.knobs.runtime
    start = lambda module, function, name, group, hash: print("loading", name, module is None)
    end = lambda module, function, name, group, hash: print("loaded", name, function is not None)
    is_chain = runtime.kernel_load_start_hook is not None
    if is_chain:
        runtime.kernel_load_start_hook.add(start)
        runtime.kernel_load_end_hook.add(end)
    else:
        runtime.kernel_load_start_hook, runtime.kernel_load_end_hook = start, end
    runtime.jit_post_compile_hook = lambda **given: print("compiled", given["fn"].name)
    try:
        out = torch.zeros(1, dtype=torch.int32, device="cuda")
        store[(1,)](out, 5)
        store[(1,)](out, 1 << 40)
    finally:
        runtime.jit_post_compile_hook = None
        if is_chain:
            runtime.kernel_load_start_hook.remove(start)
            runtime.kernel_load_end_hook.remove(end)
        else:
            runtime.kernel_load_start_hook = runtime.kernel_load_end_hook = None
