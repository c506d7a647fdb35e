"""C sources from templates, facts and plans."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from relaunch.generator.dialects import facts
from relaunch.generator.facts import Facts, Intake
from relaunch.generator.plan import LauncherPlan, plan
from relaunch.generator.signature import LauncherSpec

if TYPE_CHECKING:
    import jinja2

_ANONYMOUS = "launcher"


@cache
def environment() -> jinja2.Environment:
    """Delimiters all contain a dollar sign, which C has no use for; an undefined name is an error."""
    import jinja2  # here, because most of the command line does without

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        auto_reload=False,
        variable_start_string="$<",
        variable_end_string=">$",
        block_start_string="$%",
        block_end_string="%$",
        comment_start_string="$#",
        comment_end_string="#$",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _inputs(found: Facts) -> tuple[str, ...]:
    """The ints that the function which calls the driver needs: those that the launch's rules name."""
    rules = found.launch
    attributes = [attribute for way in rules.ways for attribute in way.attributes]
    named = [*rules.factors, rules.scaled, rules.non_portable, *(way.when for way in rules.ways)]
    named += [text for attribute in attributes for text in (attribute.when, *attribute.words)]
    words = {"grid_x", "grid_y", "grid_z", "num_warps", "shared", *re.findall(r"[a-z_]+", " ".join(named))}
    if rules.warp_size == "baked":
        words.add("warp_size")
    known = [entry.name for entry in (*found.prefix, *found.metadata.elements)]
    return tuple(name for name in (*known, "warp_size") if name in words)


@cache
def _constant(dialect: str) -> Mapping[str, object]:
    """What templates see of a dialect besides the launchers; `common` is the text that all its launchers share."""
    found = facts(dialect)
    source = found.descriptor.source
    seen = {
        "facts": found,
        "inputs": _inputs(found),
        "packs": any(one.intake is Intake.PACKED for one in found.types.values()),
        "typed": source is not None and source.how == "type",
    }
    return {**seen, "common": environment().get_template("common.c.j2").render(seen)}


def _source(dialect: str, launchers: Sequence[LauncherPlan]) -> str:
    return environment().get_template("source.c.j2").render(_constant(dialect), launchers=launchers)


def module_name(spec: LauncherSpec) -> str:
    """The launcher's Python module: named after its content, so equal launchers share one. Raises as `expand`."""
    digest = hashlib.sha256(_source(spec.dialect, [plan(spec, _ANONYMOUS)]).encode()).hexdigest()
    return f"launcher_{digest[:24]}"


def render(spec: LauncherSpec) -> str:
    """The whole C source of one launcher, an extension module named `module_name(spec)`.

    Raises UnknownType, UnknownDialectError, ValueError.
    """
    return _source(spec.dialect, [plan(spec, module_name(spec))])


def render_unit(specs: Sequence[LauncherSpec], names: Sequence[str]) -> str:
    """One translation unit with a module per spec, all of one dialect, that share their common functions."""
    return _source(specs[0].dialect, [plan(spec, name) for spec, name in zip(specs, names, strict=True)])
