"""Functions through torch.compile with relaunch.triton installed: one JSON line each.

    python tests/device/triton_inductor.py

Inductor has a launcher of its own for kernels that it knows how to launch; it is switched off, so that kernels are
launched by Triton's, then on again for the last function.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch._inductor import config

import relaunch.triton


def new(*shape: int, dtype: torch.dtype = torch.float32, grad: bool = False) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=dtype, requires_grad=grad)


def pointwise(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) * y + 1


def reduction(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sum(-1) + x.amax(-1)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return F.softmax(x, -1)


def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.gelu(F.layer_norm(x, x.shape[-1:], weight))


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.relu(a @ b + 1)


def scaled(x: torch.Tensor, alpha: float, n: int) -> torch.Tensor:
    return x * alpha + n


def gathered(table: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return torch.cat([table[places] * 2, table[places + 1]], dim=0)


def trained(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    F.gelu(x @ w + b).square().mean().backward()
    assert w.grad is not None
    assert b.grad is not None
    found = torch.cat([w.grad.flatten(), b.grad])
    w.grad = b.grad = None
    return found


def cases() -> list[tuple[str, Callable[..., torch.Tensor], list[list[Any]]]]:
    half = torch.float16
    places = torch.arange(64, device="cuda") * 3
    w, b = new(64, 128, grad=True), new(128, grad=True)
    return [
        ("pointwise", pointwise, [[new(1000, 33), new(1000, 33)], [new(5, 7), new(5, 7)], [new(64, 64), new(64, 64)]]),
        ("half", pointwise, [[new(512, 64, dtype=half), new(512, 64, dtype=half)]]),
        ("reduction", reduction, [[new(128, 1000)], [new(3, 70000)]]),
        ("softmax", softmax, [[new(64, 1023)], [new(2, 40000)]]),
        ("norm", norm, [[new(96, 320), new(320)]]),
        ("product", product, [[new(128, 64), new(64, 256)]]),
        ("scaled", scaled, [[new(300), 0.5, 3], [new(300), 2.5, 17], [new(300), 1.0, 1]]),
        ("gathered", gathered, [[new(256, 32), places]]),
        ("trained", trained, [[new(256, 64), w, b]]),
    ]


def own_launcher(enabled: bool) -> int:
    """Switches Inductor's own launchers; gives how many such switches it has."""
    # By name: the module of settings does not list them.
    names = [name for name in ("use_static_cuda_launcher", "use_static_triton_launcher") if hasattr(config, name)]
    for name in names:
        setattr(config, name, enabled)
    return len(names)


def run(name: str, function: Callable[..., torch.Tensor], calls: list[list[Any]]) -> None:
    torch._dynamo.reset()
    relaunch.triton.forget_report()
    compiled = torch.compile(function, dynamic=name == "pointwise" or None)
    wrong = []
    for number, args in enumerate(calls):
        for _ in range(2):
            got, wanted = compiled(*args), function(*args)
            near = 1e-2 if got.dtype is torch.float16 else 1e-3
            if not torch.allclose(got, wanted, rtol=near, atol=near):
                wrong.append(f"call {number}: {(got - wanted).abs().max().item()}")
    report = relaunch.triton.report().to_json()
    print(json.dumps({"program": name, "wrong": wrong, "report": report}), flush=True)


def main() -> None:
    config.force_disable_caches = True
    config.compile_threads = 1
    switches = own_launcher(False)
    relaunch.triton.install()
    for case in cases():
        run(*case)
    if switches:
        own_launcher(True)
        run("own launcher", *cases()[0][1:])


if __name__ == "__main__":
    main()
