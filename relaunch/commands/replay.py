"""`relaunch replay`: run recorded cases again and write what happened now, in the same form."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import IO, Annotated, Any

import typer


def load_backends(files: Sequence[Path]) -> None:
    """Register the backends of these files. Exit 2 where one cannot be."""
    from relaunch import generator

    for file in files:
        try:
            generator.load_backend(file)
        except Exception as error:  # noqa: BLE001 - the file is code of the user's
            typer.echo(f"--backend {file}: {type(error).__name__}: {error}", err=True)
            raise typer.Exit(2) from None


class Launcher(str, Enum):
    """Which launcher runs the cases."""

    GENERATED = "generated"
    PRECOMPILED = "precompiled"


def replay(
    cases: Annotated[Path, typer.Argument(metavar="CASES.jsonl", help="Cases of the golden form, one a line.")],
    launcher: Annotated[Launcher, typer.Option("--launcher", help="Which launcher runs them.")],
    backend: Annotated[
        list[Path] | None, typer.Option("--backend", help="A Python file that registers a backend (docs/backends.md).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write there, whole or not at all.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Worker processes, and compilers at once.")] = 2,
    timeout: Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds that one case may take.")] = 30.0,
) -> None:
    """Run cases and write {"id", "expect", "divergence"?} for each, in order, one JSON object a line.

    `expect` is what happened: events and error, {"crash": true} where the process died, {"hang": true} where it
    gave no answer in time. `divergence` lists the wanted differences from the legacy launcher whose input
    conditions hold (precompiled only). A case's own `expect` is not read, `slots` apart.
    """
    from relaunch.differential import golden, pool
    from relaunch.generator import BackendError, BuildError, NothingToGenerateError, ToolchainError

    load_backends(backend or [])
    try:
        todo = list(golden.read(cases))
        outcomes = pool.run_cases(
            todo,
            launcher.value,
            jobs=jobs,
            timeout=timeout,
            progress=counter("cases run"),
            build_progress=counter("launchers built"),
        )
        with open_whole(output) as lines:
            for case, outcome in zip(todo, outcomes, strict=True):
                answer: dict[str, Any] = {"id": case.id, "expect": shown(outcome)}
                if launcher is Launcher.PRECOMPILED:
                    answer.update(divergences(case))
                lines.write(json.dumps(answer, separators=(",", ":")) + "\n")
    except (golden.LineError, pool.WorkerError, BackendError, BuildError) as error:
        fail(str(error))
    except (NothingToGenerateError, ToolchainError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or cases}: {error.strerror}")


def counter(what: str) -> Callable[[int, int], None] | None:
    """Shows progress on one line of a terminal's standard error; None where that is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        if total:
            typer.echo(f"\r{done} of {total} {what}", err=True, nl=done == total)

    return show


def shown(outcome: dict[str, Any]) -> dict[str, Any]:
    """An outcome as the golden form has it: without the reason of a death."""
    return {name: value for name, value in outcome.items() if name != "reason"}


def divergences(case: Any) -> dict[str, list[str]]:
    """The member that names the divergences of a case; none where there are none."""
    from relaunch.differential import divergence

    ids = divergence.applicable(case)
    return {"divergence": ids} if ids else {}


@contextmanager
def open_whole(path: Path | None) -> Iterator[IO[str]]:
    """A text file that appears at `path` when all went well, and not at all otherwise; None is standard output."""
    if path is None:
        yield sys.stdout
        return
    if path.exists() and not path.is_file():  # /dev/null, a pipe: nothing to replace
        with path.open("w") as file:
            yield file
        return
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("w") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def fail(text: str) -> None:
    """End with exit code 2: usage or environment."""
    typer.echo(f"relaunch replay: {text}", err=True)
    raise typer.Exit(2)
