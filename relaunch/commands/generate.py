"""`relaunch generate`: the legacy C launcher of each signature, and its shared object."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import relaunch
from relaunch import generator
from relaunch._core import render_finding

# Codes of what this verb finds itself; those of the grammar come from `relaunch.parse`.
UNKNOWN_TYPE = "RG001"
REFUSED_BY_COMPILER = "RG002"


@dataclass(frozen=True)
class Launcher:
    """One signature of the command line with its source, and where that ends up."""

    text: str
    spec: generator.LauncherSpec
    module: str
    source: str


class BadSignatureError(Exception):
    """A signature that has no launcher; str() is what to show, caret included."""

    def __init__(self, text: str, code: str, message: str, span: tuple[int, int], shown: str) -> None:
        super().__init__(shown)
        self.report = {
            "signature": text,
            "error": {"code": code, "message": message, "span": list(span)},
        }


def plain(entries: Any) -> tuple[Any, ...]:
    """Nodes of a tree as nested tuples of type strings."""
    return tuple(plain_entry(entry) for entry in entries)


def plain_entry(node: relaunch.PyKernelArg) -> Any:
    """One node as a type string or a tuple."""
    if node.type == relaunch.ARG_TUPLE:
        return plain(node.nested_tuple or ())
    return "constexpr" if node.type == relaunch.ARG_CONSTEXPR else node.dtype


def span_of(tree: relaunch.Tree, path: tuple[int, ...]) -> tuple[int, int]:
    """Where the entry at `path` (an index, then indices into tuples) stands in the tree's text."""
    node = tree[path[0]]
    for index in path[1:]:
        node = (node.nested_tuple or ())[index]
    return node.span or (0, 0)


def read(text: str, dialect: str, warp_size: int) -> Launcher:
    """Reads and renders one signature. Raises BadSignatureError."""
    try:
        tree = relaunch.parse(text)
    except relaunch.SignatureError as error:
        raise BadSignatureError(text, error.code, error.message, error.span, str(error)) from error
    spec = generator.LauncherSpec(dialect, plain(tree), warp_size=warp_size)
    try:
        return Launcher(text, spec, generator.module_name(spec), generator.render(spec))
    except generator.UnknownType as error:
        span = span_of(tree, error.path)
        shown = render_finding(text, UNKNOWN_TYPE, str(error), span)
        raise BadSignatureError(text, UNKNOWN_TYPE, str(error), span, shown) from error


def read_all(texts: list[str], dialect: str, warp_size: int, as_json: bool) -> list[Launcher]:
    """Reads every signature; tells of all bad ones before it leaves with 1."""
    launchers = []
    bad = 0
    for text in texts:
        try:
            launchers.append(read(text, dialect, warp_size))
        except BadSignatureError as error:
            bad += 1
            typer.echo(str(error), err=True)
            if as_json:
                typer.echo(json.dumps(error.report))
    if bad:
        typer.echo(f"{bad} of {len(texts)} signatures have no launcher; nothing was written", err=True)
        raise typer.Exit(1)
    return launchers


def show_progress(done: int, total: int) -> None:
    """One line on standard error."""
    if total:
        typer.echo(f"built {done} of {total} launchers", err=True)


def compile_all(launchers: list[Launcher], optimize: str, jobs: int, as_json: bool) -> list[generator.Built]:
    """Builds all launchers. Leaves with 1 where the compiler refuses one, with 2 where there is none."""
    specs = [launcher.spec for launcher in launchers]
    try:
        return generator.build(specs, generator.default_cache(), jobs, optimize, show_progress)
    except generator.BuildError as error:
        typer.echo(str(error), err=True)
        texts = {launcher.spec: launcher.text for launcher in launchers}
        for failure in error.failures if as_json else ():
            report = {"code": REFUSED_BY_COMPILER, "message": failure.text, "span": None}
            typer.echo(json.dumps({"signature": texts[failure.spec], "error": report}))
        raise typer.Exit(1) from error
    except (generator.ToolchainError, ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error


def write_all(launchers: list[Launcher], built: list[generator.Built], folder: Path) -> Iterator[dict[str, str]]:
    """Writes sources, and shared objects where there are any, each whole or not at all; yields what lies where.

    Everything is staged inside the folder first, so that a full disk leaves no file of the set behind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".generate-") as staging:
        staged: dict[str, Path] = {}
        for launcher in launchers:
            source = Path(staging, f"{launcher.module}.c")
            source.write_text(launcher.source, encoding="ascii")
            staged[source.name] = source
        for one in built:
            shared_object = Path(staging, f"{one.module_name}.so")
            generator.publish(one.path, shared_object)
            staged[shared_object.name] = shared_object
        for name, path in staged.items():
            path.replace(folder / name)
    for launcher in launchers:
        place = {"source": str(folder / f"{launcher.module}.c")}
        if built:
            place["object"] = str(folder / f"{launcher.module}.so")
        yield place


def generate(
    signatures: Annotated[list[str], typer.Argument(metavar="SIGNATURE...", help="As `relaunch.parse` takes them.")],
    dialect: Annotated[str, typer.Option("--dialect", metavar="D", help="A release's launcher: triton-3.6-cuda.")],
    folder: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where to write; default standard output.")
    ] = None,
    build: Annotated[bool, typer.Option("--build", help="Compile shared objects too.")] = False,
    warp_size: Annotated[int, typer.Option("--warp-size", help="Threads of a warp, HIP only.")] = 64,
    optimize: Annotated[str, typer.Option("--optimize", help="Compiler flag; as released by default.")] = "-O3",
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Compiler calls at a time.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
) -> None:
    """Regenerate the legacy C launcher of each SIGNATURE, and with --build its shared object.

    Exit 1 when a signature has no launcher or does not compile (nothing is written then), 2 for an unknown dialect, one
    whose launcher was never generated (3.7 and later), or a missing compiler or header.
    """
    try:
        generator.render(generator.LauncherSpec(dialect, (), warp_size=warp_size))
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    launchers = read_all(signatures, dialect, warp_size, as_json)
    built = compile_all(launchers, optimize, jobs, as_json) if build else []
    places: list[dict[str, str]]
    if folder is None:
        places = [{} for _ in launchers]
        for place, one in zip(places, built, strict=False):
            place["object"] = str(one.path)
    else:
        try:
            places = list(write_all(launchers, built, folder))
        except OSError as error:
            typer.echo(f"{folder}: {error.strerror}", err=True)
            raise typer.Exit(2) from error
    for launcher, place in zip(launchers, places, strict=True):
        show(launcher, place, as_json)


def show(launcher: Launcher, place: dict[str, str], as_json: bool) -> None:
    """Prints where a launcher lies, or, where it was not written, its source."""
    head = {"signature": launcher.text, "dialect": launcher.spec.dialect, "module": launcher.module}
    if as_json:
        typer.echo(json.dumps(head | (place or {"text": launcher.source})))
    elif place:
        typer.echo("  ".join(place.values()) + f"  {launcher.text}")
    else:
        sys.stdout.write(launcher.source)
