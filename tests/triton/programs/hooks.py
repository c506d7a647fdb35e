"""Hooks around launches, and what they are given."""

import torch
import triton
import triton.language as tl


def add_hooks(enter, leave):
    """As each release wants it; gives what takes them off again."""
    if not hasattr(triton, "knobs"):
        from triton.compiler import CompiledKernel

        CompiledKernel.launch_enter_hook, CompiledKernel.launch_exit_hook = enter, leave

        def remove():
            CompiledKernel.launch_enter_hook = CompiledKernel.launch_exit_hook = None

        return remove
    runtime = triton.knobs.runtime
    if runtime.launch_enter_hook is None:
        runtime.launch_enter_hook, runtime.launch_exit_hook = enter, leave

        def remove():
            runtime.launch_enter_hook = runtime.launch_exit_hook = None

        return remove
    runtime.launch_enter_hook.add(enter)
    runtime.launch_exit_hook.add(leave)

    def remove():
        runtime.launch_enter_hook.remove(enter)
        runtime.launch_exit_hook.remove(leave)

    return remove


def describe(grid, metadata, args):
    print("asked", grid, metadata.name, sorted(args))
    return {"flops": args["n"] * 2, "name": f"copied {args['n']}"}


@triton.jit(launch_metadata=describe)
def copy(x, out, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places, mask=places < n), mask=places < n)


def main():
    x = torch.randn(64, device="cuda")
    out = torch.zeros_like(x)

    def enter(metadata):
        given = metadata.get()
        print("enter", given["name"], given.get("flops"), given["stream"], sorted(given))

    remove = add_hooks(enter, lambda metadata: print("exit", metadata.get()["name"]))
    try:
        copy[(1,)](x, out, 64, BLOCK=64)
        copy[(1,)](x, out, 48, BLOCK=64)
    finally:
        remove()
    copy[(1,)](x, out, 64, BLOCK=64)
    return [(out, lambda: x)]
