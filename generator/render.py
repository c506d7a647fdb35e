"""C sources from templates, facts and plans."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from relaunch.generator.backend import BackendError, registered
from relaunch.generator.dialects import facts
from relaunch.generator.facts import Facts, Intake
from relaunch.generator.plan import plan
from relaunch.generator.signature import LauncherSpec

if TYPE_CHECKING:
    import jinja2

# What templates call the launcher. No signature can have it in its C text, whose names are all lower case.
_NAME = "LAUNCHER"


@cache
def environment(backend: str) -> jinja2.Environment:
    """Delimiters all contain a dollar sign, which C has no use for; an undefined name is an error.

    A registered backend's own templates are found before the built-in ones.
    """
    import jinja2  # here, because most of the command line does without

    own = registered(backend)
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([*([own.templates] if own else []), Path(__file__).parent / "templates"]),
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
    """What templates see of a dialect besides the launcher."""
    found = facts(dialect)
    source = found.descriptor.source
    return {
        "facts": found,
        "inputs": _inputs(found),
        "packs": any(one.intake is Intake.PACKED for one in found.types.values()),
        "typed": source is not None and source.how == "type",
    }


@cache
def shared_source(dialect: str) -> str:
    """The C text that all launchers of a dialect begin with. Raises UnknownDialectError; BackendError."""
    return _rendered("common.c.j2", dialect)


def _rendered(template: str, dialect: str, **names: object) -> str:
    """BackendError where a template is wrong, which only a backend's own can be."""
    import jinja2

    backend = facts(dialect).backend
    try:
        return environment(backend).get_template(template).render(_constant(dialect), **names)
    except jinja2.TemplateSyntaxError as error:
        raise BackendError(f"templates of {backend}: {error.name}:{error.lineno}: {error.message}") from error
    except jinja2.TemplateError as error:
        raise BackendError(f"templates of {backend}: {template}: {error.message}") from error


@dataclass(frozen=True)
class Rendered:
    """One launcher's own C text, which follows that of `shared_source`, and its Python module."""

    spec: LauncherSpec
    name: str  # after the content, so equal launchers share one
    source: str


def render_launcher(spec: LauncherSpec) -> Rendered:
    """Renders what is the launcher's own. Raises as `expand`; NothingToGenerateError; BackendError."""
    source = _rendered("module.c.j2", spec.dialect, launcher=plan(spec))
    digest = hashlib.sha256((shared_source(spec.dialect) + source).encode()).hexdigest()
    name = f"launcher_{digest[:24]}"
    return Rendered(spec, name, source.replace(_NAME, name))


def module_name(spec: LauncherSpec) -> str:
    """The name of the launcher's Python module. Raises as `render_launcher`."""
    return render_launcher(spec).name


def render(spec: LauncherSpec) -> str:
    """The whole C source of one launcher, an extension module named `module_name(spec)`.

    Raises UnknownType, UnknownDialectError, ValueError; NothingToGenerateError, a ValueError.
    """
    return render_unit([render_launcher(spec)])


def render_unit(launchers: Sequence[Rendered]) -> str:
    """One translation unit of launchers of one dialect, each a module, that share their common functions."""
    return shared_source(launchers[0].spec.dialect) + "".join(launcher.source for launcher in launchers)
