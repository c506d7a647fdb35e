"""The layout of the repository, read from its sources: who may include or import what, and budgets.

Each rule's docstring says why it exists. The sources are read as text, so that a broken rule shows
up as one line naming the file, not as a build that happens to fail somewhere.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = {".git", ".venv", "build", "dist", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
CPP = {".cpp", ".hpp", ".h", ".c", ".cu", ".hip", ".def"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
VENDOR = re.compile(r"^(cuda|hip/|nvrtc|cuda_runtime|cudaTypedefs|rocm|hsa)")
PYTHON = re.compile(r"^(Python\.h|pybind11/)")


def files(*suffixes: str, under: str = "") -> Iterator[Path]:
    """Files of the repository with one of the suffixes (all without), below a folder."""
    for path in sorted((ROOT / under).rglob("*")):
        parts = path.relative_to(ROOT).parts
        if BUILT.isdisjoint(parts) and path.is_file() and not path.is_symlink():
            if parts[0] == "shared" or any(part.endswith(".egg-info") for part in parts):
                continue
            if not suffixes or path.suffix in suffixes:
                yield path


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def includes() -> Iterator[tuple[str, str]]:
    """(file, what it includes) for every C and C++ file."""
    for path in files(*CPP):
        for included in INCLUDE.findall(path.read_text()):
            yield name(path), included


def imports(path: Path) -> Iterator[str]:
    """Absolute names of the modules that a Python file imports, anywhere in it."""
    package = {top: f"relaunch.{top}" for top in ("generator", "differential", "audit", "kernels")}
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    parts = package.get(parts[0], parts[0]).split(".") + parts[1:]
    here = parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield start
            yield from (f"{start}.{alias.name}" for alias in node.names)


def test_python_header_has_its_places() -> None:
    """Python.h and pybind11 only in precompiled/python/, differential/native/, and programs of benchmarks and tests.

    The stages are used without Python too (a C interface, a native program, fuzzers, sanitizers),
    and one boundary keeps reference counts, the GIL and pending errors in code that is read for it.
    """
    allowed = (
        "precompiled/python/",
        "differential/native/",
        "tests/bench/",
        "tests/python/launcher/",
        "tests/python/memory/",
    )
    wrong = [f"{file}: {what}" for file, what in includes() if PYTHON.match(what) and not file.startswith(allowed)]
    assert wrong == []


def test_vendor_headers_have_their_places() -> None:
    """cuda*.h and hip/* only in precompiled/driver/, differential/, kernels/ and generated C.

    The core must compile, and be tested, with neither vendor's headers; a second copy of a vendor's
    struct that has drifted is found where both are seen, in driver/ and the recorder.
    """
    allowed = ("precompiled/driver/", "differential/", "kernels/", "tests/device/", "tests/bench/")
    wrong = [f"{file}: {what}" for file, what in includes() if VENDOR.match(what) and not file.startswith(allowed)]
    assert wrong == []


# Folder -> folders of the repository it may include from (its own is always allowed).
MAY_INCLUDE = {
    "precompiled/core/": (),
    "precompiled/binary/": ("precompiled/core/",),
    "precompiled/driver/": ("precompiled/core/",),
    "precompiled/python/": ("precompiled/", "migrate/"),
    "migrate/": ("precompiled/core/",),
    "capi/": ("precompiled/core/", "precompiled/driver/", "migrate/", "relaunch/relaunch.h"),
    # Declarations of HIP, and how a stand-in driver finds its own symbols.
    "differential/recorder/": ("differential/hip_exports.hpp", "differential/own_symbol.hpp"),
    "differential/hip_on_cuda/": ("differential/hip_exports.hpp", "differential/own_symbol.hpp"),
    "differential/native/": ("precompiled/core/", "differential/"),
}


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_includes_follow_the_flow(folder: str) -> None:
    """signature -> tree -> plan -> launch, one way.

    The core does not know the grammar (trees also come from elsewhere), the recorder shares nothing
    with the launcher it judges, and only the Python binding and the C interface see both the grammar
    and the launcher.
    """
    repository = tuple(f"{top}/" for top in ("precompiled", "migrate", "differential", "kernels", "tests", "relaunch"))
    wrong = [
        f"{file}: {what}"
        for file, what in includes()
        if file.startswith(folder)
        and what.startswith(repository)
        and not what.startswith((folder, *MAY_INCLUDE[folder]))
    ]
    assert wrong == []


def test_includes_are_named_from_the_root() -> None:
    """`#include "precompiled/core/tree.hpp"`, never relative: a file says where what it uses lives."""
    wrong = [
        f"{file}: {what}"
        for file, what in includes()
        if file.endswith((".cpp", ".hpp"))
        and (
            what.startswith("..")
            or (Path(file).parent / what != Path(what) and (ROOT / Path(file).parent / what).exists())
        )
    ]
    assert wrong == []


def test_generator_knows_nothing_of_the_precompiled_launcher() -> None:
    """generator/ imports the standard library, jinja2 and itself.

    The oracle must not share packing facts with what it judges: a wrong width in a common table
    would be wrong in both launchers and look right.
    """
    allowed = set(sys.stdlib_module_names) | {"jinja2", "__future__"}
    wrong = [
        f"{name(path)}: {module}"
        for path in files(".py", under="generator")
        for module in imports(path)
        if module.split(".")[0] not in allowed and not module.startswith("relaunch.generator") and module != "relaunch"
    ]
    assert wrong == []


def test_launching_loads_no_engine() -> None:
    """`import relaunch` loads neither relaunch.differential nor relaunch.generator nor jinja2 nor typer.

    Users launch kernels with it: what is slow to load or can compile C is not on that way.
    """
    rooms = ("relaunch.differential", "relaunch.generator", "relaunch.audit", "relaunch.commands")
    unwanted = (*rooms, "jinja2", "typer", "rich", "distributed")
    program = f"import sys, relaunch; print([m for m in {unwanted!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_stages_do_not_import_the_command_line() -> None:
    """generator/, differential/ and audit/ do not import relaunch.commands or relaunch.cli: verbs call stages."""
    wrong = [
        f"{name(path)}: {module}"
        for folder in ("generator", "differential", "audit")
        for path in files(".py", under=folder)
        for module in imports(path)
        if module.startswith(("relaunch.commands", "relaunch.cli"))
    ]
    assert wrong == []


def test_only_workers_load_generated_launchers() -> None:
    """`generator.load` is called in differential/launching.py alone, and only the worker and its volume.py import that.

    Generated code is as unsafe as the original: it may take its process down, and must not take
    the process that judges. (Tests and benchmarks start processes of their own.)
    """
    places = {
        "relaunch.generator.load": {"launching"},
        "relaunch.differential.launching": {"worker", "volume"},
        "relaunch.differential.volume": {"worker"},
    }
    wrong = [
        f"{name(path)}: {module}"
        for folder in ("relaunch", "differential", "audit")
        for path in files(".py", under=folder)
        for module in imports(path)
        if path.stem not in places.get(module, {path.stem})
    ]
    assert wrong == []
    calls = [name(path) for path in files(".py") if "generator.load(" in path.read_text() and "tests" not in path.parts]
    assert calls == ["differential/launching.py"]


FILE_LINES = 400
FUNCTION_LINES = 60


def test_files_stay_small() -> None:
    """A source file has at most 400 lines: it can be read in one go and is named for one thing."""
    long = {name(p): n for p in files(".py", ".sh", *CPP) if (n := len(p.read_text().splitlines())) > FILE_LINES}
    assert long == {}


def lines_of_code(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith(("//", "#")))


def python_functions(path: Path) -> Iterator[tuple[str, int]]:
    source = path.read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body
            if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
                body = body[1:]
            text = "\n".join(source.splitlines()[body[0].lineno - 1 : node.end_lineno])
            yield f"{name(path)}:{node.lineno} {node.name}", lines_of_code(text)


def without_texts(source: str) -> str:
    """C++ source with comments, string and character literals blanked, lines kept."""
    token = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
    digits = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")  # 1'000'000
    return token.sub(lambda match: "\n" * match[0].count("\n"), digits.sub("", source))


def cpp_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Bodies in braces whose head has a parameter list and that are not inside another body."""
    text = without_texts(path.read_text())
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", lambda match: "\n" * match[0].count("\n"), text, flags=re.MULTILINE)
    head = begin = depth = inside = 0
    for match in re.finditer(r"[{};]", text):
        at, mark = match.start(), match[0]
        if mark == "{":
            depth += 1
            before = text[head:at]
            if not inside and "(" in before and not re.search(r"\b(namespace|enum)\b|=\s*$", before):
                inside, begin = depth, at
        elif mark == "}":
            if inside == depth:
                line = text.count("\n", 0, begin) + 1
                yield f"{name(path)}:{line}", lines_of_code(text[begin:at]) + 1
                inside = 0
            depth -= 1
        head = at + 1


def test_functions_stay_small() -> None:
    """A function has at most 60 lines of code: what it does can be held in mind, and tested."""
    sizes = [entry for path in files(".py") for entry in python_functions(path)]
    sizes += [entry for path in files(*CPP) for entry in cpp_functions(path)]
    assert {where: lines for where, lines in sizes if lines > FUNCTION_LINES} == {}


def test_functions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scan above sees bodies, and only bodies: it would otherwise pass by finding nothing."""
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    source = tmp_path / "a.cpp"
    source.write_text(
        'namespace a {\nstruct S {\n  int f() const {\n    if (x) {\n      g("}");\n    }\n    return 1;\n  }\n};\n'
        "int table[] = {1, 2};\nenum class E { a };\nvoid g(int a,\n       int b) {\n  h();\n}\n}\n"
    )
    assert list(cpp_functions(source)) == [("a.cpp:3", 6), ("a.cpp:13", 3)]


def test_texts_name_no_machine() -> None:
    """No absolute path of one machine and no package host in any text: a clone works anywhere.

    The patterns are put together here so that this file does not hold them. Signatures found in
    public code are kept as they were found, with the paths that a compiler wrote into them.
    """
    words = [
        "/wo" + "rk/",
        "/ro" + "ot/",
        "/ho" + "me/",
        "pypi" + ".org",
        "python" + "hosted",
        "deb.deb" + "ian",
        "snapshot.deb" + "ian",
    ]
    pattern = re.compile(r"(?<![\w.$}])(?:" + "|".join(map(re.escape, words)) + ")")
    wrong = []
    for path in files():
        if name(path) == "tests/signatures/signatures.jsonl":
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        wrong += [f"{name(path)}: {match[0]}" for match in pattern.finditer(text)]
    assert wrong == []


def test_files_are_named_for_what_they_hold() -> None:
    """No util, helper, manager, handler or data in a file's name: such a file collects what has no home."""
    vague = re.compile(r"(^|_)(utils?|helpers?|managers?|handlers?|data|common|misc)(_|\.|$)")
    assert [name(path) for path in files(".py", *CPP) if vague.search(path.name)] == []


def test_no_module_declares_that_it_runs_without_the_gil() -> None:
    """docs/architecture.md, "Threads", says what would have to change first."""
    modules: dict[str, str] = {}
    for path in files(*CPP):
        text = path.read_text()
        modules.update((name(path), found) for found in re.findall(r"PYBIND11_MODULE\(([^)]*)\)", text))
        assert not re.search("mod_gil_not_used|Py_mod_gil|Py_MOD_GIL_NOT_USED|PyUnstable_Module_SetGIL", text), name(
            path
        )
    assert modules == {
        "differential/native/module.cpp": "_native, module",
        "precompiled/python/module.cpp": "_core, module",
    }


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="for a free-threaded interpreter")
def test_importing_switches_the_gil_on() -> None:
    code = "import sys, relaunch; sys.exit(0 if sys._is_gil_enabled() else 1)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
