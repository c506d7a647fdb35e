"""`relaunch verify`: the declared signature against the kernel's own parameter table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from relaunch._core import KernelParameters, Tree, Verification

STANDARD_INPUT = "<stdin>"
FITS, MISFIT, UNREADABLE = 0, 1, 2


def verify(
    binaries: Annotated[
        list[str],
        typer.Argument(metavar="BINARY", help="Cubin, PTX, AMDGPU code object or assembly; - reads standard input."),
    ],
    signature: Annotated[
        str | None,
        typer.Option(
            "--signature", "-s", metavar="S", help="The declared signature, in any form, or @FILE to read it from."
        ),
    ] = None,
    dialect: Annotated[
        str | None, typer.Option("--dialect", "-d", metavar="D", help="Whose launcher: triton-3.6-cuda, ...")
    ] = None,
    kernel: Annotated[
        str | None, typer.Option("--kernel", "-k", metavar="NAME", help="Which kernel, where a file has several.")
    ] = None,
    which: Annotated[bool, typer.Option("--which", help="Try every dialect and say which fit.")] = False,
    constants: Annotated[
        str | None,
        typer.Option("--constants", metavar="I,J", help="Entries folded into the kernel, from 0 (3.0 to 3.2)."),
    ] = None,
    tensordesc_meta: Annotated[
        str | None,
        typer.Option(
            "--tensordesc-meta",
            metavar="JSON",
            help="The kernel's metadata of descriptors; without it every way to pass them is tried.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Check that a signature fits a compiled kernel: every parameter's size and offset must agree.

    Both layouts are shown where it does not fit, with the first difference marked. Without --signature the kernels
    of each file are listed with their parameters. The signature may be that of the kernel's own IR (--signature
    @add.ttir): shape and strides that follow a descriptor there belong to it. Of several in a file, the function with
    the kernel's name counts.

    Exit 0: all fit. 1: at least one does not. 2: wrong usage, or a file or kernel that cannot be read.
    """
    options = Options(signature, dialect, which, constants, tensordesc_meta)
    report = Report(as_json)
    for name in binaries:
        verify_file(name, kernel, options, report)
    if report.worst != FITS:
        raise typer.Exit(report.worst)


class Options:
    """What is compared, checked once for all files. Raises typer.BadParameter."""

    def __init__(
        self, signature: str | None, dialect: str | None, which: bool, constants: str | None, meta: str | None
    ) -> None:
        from relaunch._core import DIALECTS

        self.declared = None if signature is None else Declared(signature)
        if which and dialect is not None:
            raise typer.BadParameter("--which tries every dialect: leave --dialect out", param_hint="--which")
        if self.declared is None and (which or dialect is not None):
            raise typer.BadParameter("needed to compare with, as in '*fp32, i32'", param_hint="--signature")
        if self.declared is not None and not which and dialect is None:
            raise typer.BadParameter("needed, or --which to try them all", param_hint="--dialect")
        self.which = which
        self.dialects = tuple(DIALECTS) if which else (dialect or "",)
        self.constants = integers(constants)
        self.tensordesc_meta = meta_of(meta)
        if self.declared is not None and not which:
            check_dialect(self.dialects[0])


class Declared:
    """The signature of the command line, or those of a file that it names. Raises typer.BadParameter."""

    def __init__(self, signature: str) -> None:
        self.place = signature[1:] if signature.startswith("@") else "--signature"
        if signature.startswith("@"):
            self.trees = trees(content_of(self.place), self.place)
        elif "\n" in signature:  # a module of IR, as `"$(cat add.ttir)"` gives it
            self.trees = trees(signature.encode("utf-8", "replace"), self.place)
        else:
            self.trees = {"": one_tree(signature)}

    def tree(self, kernel: str) -> Tree | None:
        """The only one, or the one of that name."""
        return next(iter(self.trees.values())) if len(self.trees) == 1 else self.trees.get(kernel)


def content_of(file: str) -> bytes:
    """Raises typer.BadParameter."""
    try:
        return Path(file).read_bytes()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise typer.BadParameter(f"{file}: {reason}", param_hint="--signature") from None


def one_tree(signature: str) -> Tree:
    """The tree of a line. Raises typer.BadParameter."""
    from relaunch._core import SignatureError, parse, read_signatures
    from relaunch.audit.signatures import without_expansion

    try:
        tree = parse(signature)
    except SignatureError as error:
        raise typer.BadParameter(f"\n{error}", param_hint="--signature") from None
    form = read_signatures(signature.encode("utf-8", "replace"), "")[0].form
    return without_expansion(tree) if form == "ttir" else tree


def trees(content: bytes, place: str) -> dict[str, Tree]:
    """Those of a file by the names of their functions; what has no name is called by its place. Raises
    typer.BadParameter.
    """
    from relaunch._core import read_signatures
    from relaunch.audit.signatures import function_name, without_expansion

    out: dict[str, Tree] = {}
    for found in read_signatures(content, place):
        if not found.ok:
            error = next(each for each in found.diagnostics if each["severity"] == "error")
            message = f"{found.source}: {error['code']} {error['message']}"
            raise typer.BadParameter(message, param_hint="--signature")
        if found.form == "ttir":
            out[function_name(found.text) or found.source] = without_expansion(found.tree)
        else:
            out[found.source] = found.tree
    return out


def check_dialect(dialect: str) -> None:
    """Refuse a dialect that there is not, naming those that there are."""
    from relaunch._core import BindError, Plan

    try:
        Plan("i32", dialect=dialect)
    except BindError as error:
        raise typer.BadParameter(str(error), param_hint="--dialect") from None


def integers(text: str | None) -> list[int]:
    """`1,4` as numbers."""
    try:
        return [int(part) for part in text.split(",")] if text else []
    except ValueError:
        raise typer.BadParameter(
            f"expected indices with commas between, got {text!r}", param_hint="--constants"
        ) from None


def meta_of(text: str | None) -> list[Any] | None:
    """The list that a kernel's metadata has, None where it is not given."""
    if text is None:
        return None
    try:
        meta = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"no JSON: {error}", param_hint="--tensordesc-meta") from None
    if meta is not None and not isinstance(meta, list):
        raise typer.BadParameter("expected a list, as in the kernel's metadata", param_hint="--tensordesc-meta")
    return meta or []


class Report:
    """Writes findings, and remembers the worst."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.worst = FITS

    def add(self, outcome: int, record: dict[str, Any], text: str) -> None:
        """One finding: as an object, or as text, which goes to standard error where it is none of the kernel's."""
        self.worst = max(self.worst, outcome)
        if self.as_json:
            print(json.dumps(record))
        else:
            print(text, file=sys.stderr if outcome == UNREADABLE else sys.stdout)

    def unreadable(self, shown: str, message: str, details: dict[str, Any]) -> None:
        """A file or kernel that cannot be read."""
        self.add(UNREADABLE, {"file": shown, "error": details}, f"relaunch verify: {shown}: {message}")


def verify_file(name: str, kernel_name: str | None, options: Options, report: Report) -> None:
    """Compare or list the kernels of one file."""
    from relaunch._core import BinaryError, find_kernel, read_kernels

    shown = STANDARD_INPUT if name == "-" else name.encode("utf-8", "backslashreplace").decode()
    try:
        content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        report.unreadable(shown, reason, {"fault": "file", "message": reason})
        return
    try:
        kernels = read_kernels(content)
        if options.declared is None and kernel_name is None:
            for kernel in kernels:
                report.add(FITS, listed(shown, kernel), listing(shown, kernel))
            return
        kernel = find_kernel(kernels, kernel_name or "")
    except BinaryError as error:
        report.unreadable(shown, str(error), details_of(error))
        return
    if options.declared is None:
        report.add(FITS, listed(shown, kernel), listing(shown, kernel))
        return
    tree = options.declared.tree(kernel.kernel)
    if tree is None:
        names = ", ".join(options.declared.trees)
        message = f"{options.declared.place} has no signature for {kernel.kernel}, but those of {names}"
        report.unreadable(shown, message, {"fault": "signature", "message": message})
    elif options.which:
        try_all(shown, kernel, tree, options, report)
    else:
        compare(shown, kernel, tree, options, report)


def details_of(error: Any) -> dict[str, Any]:
    """A BinaryError's attributes."""
    keys = ("fault", "offset", "line", "kernel", "expected", "found")
    return {**{key: getattr(error, key) for key in keys}, "message": str(error)}


def listed(shown: str, kernel: KernelParameters) -> dict[str, Any]:
    """A kernel's table as an object."""
    return {
        "file": shown,
        "format": kernel.format,
        "kernel": kernel.kernel,
        "bytes": kernel.bytes,
        "parameters": list(kernel.parameters),
    }


def listing(shown: str, kernel: KernelParameters) -> str:
    """A kernel's table as a person reads it."""
    count = len(kernel.parameters)
    lines = [f"{shown}: {kernel.kernel}: {count} parameter{'' if count == 1 else 's'}, {kernel.bytes} bytes"]
    for number, each in enumerate(kernel.parameters):
        what = ": ".join(part for part in (each["name"], each["kind"]) if part)
        hidden = " (filled by the runtime)" if each["hidden"] else ""
        lines.append(f"  {number:4} {each['offset']:6} {each['size']:5}  {what}{hidden}".rstrip())
    if count:
        lines.insert(1, "       offset  size")
    return "\n".join(lines)


def attempt(kernel: KernelParameters, tree: Tree, dialect: str, options: Options) -> tuple[Verification | None, str]:
    """The comparison under one dialect, or None and why the dialect cannot launch the signature."""
    from relaunch._core import BindError, verify_kernel

    try:
        found = verify_kernel(
            kernel,
            tree,
            dialect=dialect,
            constants=options.constants,
            tensordesc_meta=options.tensordesc_meta,
        )
    except (BindError, AssertionError) as error:
        return None, str(error)
    return found, found.message


def compare(shown: str, kernel: KernelParameters, tree: Tree, options: Options, report: Report) -> None:
    """One kernel under one dialect."""
    from relaunch._core import Plan

    dialect = Plan("i32", dialect=options.dialects[0]).dialect
    found, message = attempt(kernel, tree, dialect, options)
    record: dict[str, Any] = {"file": shown, "format": kernel.format, "kernel": kernel.kernel, "dialect": dialect}
    record["fits"] = found is not None and found.fits
    record["message"] = message or None
    if found is None:
        report.add(MISFIT, record, f"{shown}: {kernel.kernel} does not fit {dialect}: {message}")
        return
    record["difference"] = found.difference
    record["descriptors_by_value"] = list(found.descriptors_by_value)
    record["planned"] = list(found.planned)
    record["parameters"] = list(found.found)
    if found.fits:
        count = len(found.found)
        parameters = f"{count} parameter{'' if count == 1 else 's'}, {kernel.bytes} bytes"
        report.add(FITS, record, f"{shown}: {found.call} fits {dialect}: {parameters}")
        return
    head = f"{shown}: {found.call} does not fit {dialect}: {message}"
    report.add(MISFIT, record, f"{head}\n{found.layouts.rstrip()}" if found.difference is not None else head)


def try_all(shown: str, kernel: KernelParameters, tree: Tree, options: Options, report: Report) -> None:
    """One kernel under every dialect; a fit of one will do."""
    tried: list[dict[str, Any]] = []
    for dialect in options.dialects:
        found, message = attempt(kernel, tree, dialect, options)
        tried.append({"dialect": dialect, "fits": found is not None and found.fits, "message": message or None})
    fitting = [each["dialect"] for each in tried if each["fits"]]
    record = {
        "file": shown,
        "format": kernel.format,
        "kernel": kernel.kernel,
        "fits": bool(fitting),
        "fitting": fitting,
        "dialects": tried,
    }
    if fitting:
        report.add(FITS, record, f"{shown}: {kernel.kernel} fits {', '.join(fitting)}")
        return
    lines = [f"{shown}: {kernel.kernel} fits no dialect"]
    lines += [f"  {each['dialect']}: {each['message']}" for each in tried]
    report.add(MISFIT, record, "\n".join(lines))
