"""Where every kernel parameter of one signature lies: in the launcher's slot, and in the kernel's parameter space."""

from __future__ import annotations

from dataclasses import dataclass

from relaunch.generator.facts import Facts, Intake
from relaunch.generator.signature import LauncherSpec, check, expand, flat_types, leaves

# Bytes, as PTX declares a tensor map and AMDGPU a structure of words.
_BY_VALUE_ALIGNMENT = {"CUtensorMap": 64, "TDMDescriptor": 4}


@dataclass(frozen=True)
class Parameter:
    """One kernel parameter. `index` is the flattened place of its argument; hidden ones have none."""

    index: int | None
    type: str  # as the expanded signature has it; the name of a hidden one
    slot: int  # bytes that the launcher gives to the driver
    size: int  # bytes that the kernel reads of them
    alignment: int  # bytes, in the kernel
    offset: int  # bytes, in the kernel

    @property
    def hidden(self) -> bool:
        """Whether it stands for no argument of the kernel's."""
        return self.index is None


def layout(spec: LauncherSpec) -> tuple[Parameter, ...]:
    """The parameters of a spec's launcher in order, hidden ones last. Raises as `generator.expand`."""
    found = check(spec)
    expanded = expand(spec)
    parameters: list[Parameter] = []
    for leaf, name in zip(leaves(found, expanded, spec.constants), flat_types(expanded), strict=True):
        if leaf.size:
            alignment = leaf.type.kernel_size
            if leaf.type.intake is Intake.DESCRIPTOR:
                alignment = _BY_VALUE_ALIGNMENT[leaf.type.parameter]
            place = _next(parameters, alignment)
            parameters.append(Parameter(leaf.index, name, leaf.size, leaf.type.kernel_size, alignment, place))
    return tuple(_with_hidden(found, parameters))


def _with_hidden(found: Facts, parameters: list[Parameter]) -> list[Parameter]:
    for hidden in found.hidden:
        place = _next(parameters, hidden.size)
        parameters.append(Parameter(None, hidden.name, hidden.size, hidden.size, hidden.size, place))
    return parameters


def _next(parameters: list[Parameter], alignment: int) -> int:
    end = parameters[-1].offset + parameters[-1].size if parameters else 0
    return -(-end // alignment) * alignment
