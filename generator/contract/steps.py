"""What a launcher does, step by step, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relaunch.generator.contract import words
from relaunch.generator.facts import Facts, Step

# Steps that are the same wherever they are.
_CONTEXT = (
    "`cuCtxGetCurrent`. Without a context: `cuDeviceGet(0)`, `cuDevicePrimaryCtxRetain`, `cuCtxSetCurrent`, which "
    "is never undone. A failure stays pending and the call goes on."
)
_FLAT = (
    "Tuples are opened, all of them first. Then every argument is converted in flattened order, scalars, pointers and "
    "descriptors alike. The first failure ends the call; the enter hook has run, the exit hook does not."
)
_ENTER_HOOK = "Called unless None. If it raises, the call ends here."
_DESCRIPTORS = "All descriptors passed by value are found, left to right."
_PENDING = "Whatever is pending is raised."


def step_texts(found: Facts) -> list[tuple[str, str]]:
    """(name, sentence) for every step of a dialect, in order."""
    return [(words.STEPS[step], text if isinstance(text := _TEXTS[step], str) else text(found)) for step in found.steps]


def _arguments(found: Facts) -> str:
    if found.native:
        return "The positional arguments are parsed; the kernel's own stay one sequence."
    tuples = " Lengths of tuples are checked." if found.tuples else ""
    return f"All positional arguments are parsed in order: count, then each one's conversion.{tuples}"


def _metadata(found: Facts) -> str:
    if found.native:
        return f"Read in the same pass, as three ints at place {_place(found, 'kernel_metadata')}."
    if found.metadata.error:
        return "The tuple is parsed; whatever is wrong with it becomes one TypeError."
    return "The tuple is parsed; CPython's own error stays."


def _place(found: Facts, name: str) -> int:
    return [one.name for one in found.prefix].index(name) + 1


def _scratch(found: Facts) -> str:
    names = " then ".join(f"`{name}`" for name in found.scratch)
    number = " The number in their errors is -1." if found.pointers.index == "flattened" else ""
    return f"{names} become addresses, as pointers do.{number}"


def _pointers(found: Facts) -> str:
    folded = " Folded constants that are pointers are asked too." if found.folds_constants else ""
    return f"All pointer arguments become addresses, left to right, depth first.{folded}"


def _packing(found: Facts) -> str:
    late = found.steps.index(Step.PACKING) > found.steps.index(Step.METADATA)
    when = "" if late else ", hooks and pointers included"
    return f"Floats are narrowed. An overflow stays pending and the call goes on{when}."


def _launch(found: Facts) -> str:
    released = "The GIL is released around it." if found.launch.gil_released else "The GIL is held."
    return f"The driver is asked, unless the grid is empty (below). {released} A refusal stays pending."


def _exit_hook(found: Facts) -> str:
    late = found.exit_hook_after_failure
    raised = " What it raises is raised, though the kernel runs."
    return (
        "Called unless None, "
        + ("also after a failure, with its error pending." if late else "never after a failure.")
        + raised
    )


_TEXTS: Mapping[Step, str | Callable[[Facts], str]] = {
    Step.CONTEXT: _CONTEXT,
    Step.ARGUMENTS: _arguments,
    Step.METADATA: _metadata,
    Step.ENTER_HOOK: _ENTER_HOOK,
    Step.SCRATCH: _scratch,
    Step.POINTERS: _pointers,
    Step.DESCRIPTORS: _DESCRIPTORS,
    Step.PACKING: _packing,
    Step.FLAT_ARGUMENTS: _FLAT,
    Step.LAUNCH: _launch,
    Step.PENDING_ERROR: _PENDING,
    Step.EXIT_HOOK: _exit_hook,
}
