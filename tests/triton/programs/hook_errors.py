"""A hook that raises before a launch stops it, one that raises after it does not."""

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


@triton.jit
def store(out, value):
    tl.store(out, value)


def refuse(metadata):
    raise ValueError("not now")


def main():
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    store[(1,)](out, 3)
    for enter, leave in ((refuse, print), (lambda metadata: None, refuse)):
        remove = add_hooks(enter, leave)
        try:
            store[(1,)](out, 7)
        except ValueError as error:
            print(error)
        finally:
            remove()
    return [(out, lambda: torch.tensor([7], dtype=torch.int32, device="cuda"))]
