"""The seeded faults of tests/mutants: each applies to the code as it is, and the tool says what became of one."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tools.mutants import copies  # noqa: E402
from tools.mutants.copies import CORE, NATIVE, UNIT, Copy, CopyError, Interpreter  # noqa: E402
from tools.mutants.patches import Mutant, PatchError, StaleError, load, read  # noqa: E402
from tools.mutants.trial import FIRST, QUICK_PART, Trials, built_parts  # noqa: E402

MUTANTS = load(ROOT / "tests/mutants")
GROUPS = ("attributes", "comparison", "facts", "hooks", "intake", "packing", "plan", "recorder", "templates", "triton")


def test_every_fault_applies_to_the_code_as_it_is() -> None:
    stale = []
    for mutant in MUTANTS:
        try:
            mutant.apply((ROOT / mutant.file).read_text())
        except (OSError, StaleError) as error:
            stale.append(f"{mutant.id}: {error}")
    assert stale == [], "\n".join(stale)


def test_there_are_enough_of_each_group() -> None:
    counts = Counter(mutant.group for mutant in MUTANTS if not mutant.equivalent)
    assert tuple(sorted(counts)) == GROUPS
    assert min(counts.values()) >= 10
    assert counts.total() >= 120
    assert {mutant.group for mutant in MUTANTS if mutant.quick} == set(GROUPS)


def test_the_files_that_are_named_exist() -> None:
    named = {*QUICK_PART, *(file for some in FIRST.values() for file in some)}
    named |= {test.partition("::")[0] for mutant in MUTANTS for test in mutant.by}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert set(FIRST) == set(GROUPS)


SOUND = """
# a comment
mutant one: something is wrong
in a.txt
by tests/python tests/golden
quick
 around
-old
+new
+more
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "plan.mutants"
    path.write_text(text)
    return path


def only(folder: Path, text: str) -> Mutant:
    (mutant,) = read(write(folder, text))
    return mutant


def test_a_fault_is_read_and_applied_wherever_its_lines_stand(tmp_path: Path) -> None:
    mutant = only(tmp_path, SOUND)
    assert (mutant.id, mutant.title, mutant.file) == ("plan/one", "something is wrong", "a.txt")
    assert (mutant.by, mutant.quick, mutant.equivalent) == (("tests/python", "tests/golden"), True, "")
    assert mutant.apply("around\nold\n") == "around\nnew\nmore\n"
    assert mutant.apply("old\n\naround\nold\nlast\n") == "old\n\naround\nnew\nmore\nlast\n"


@pytest.mark.parametrize("text", ["", "old\n", "around\nolder\n", "  around\nold\n", "around\nold\naround\nold\n"])
def test_a_stale_fault_is_named_with_its_place(text: str, tmp_path: Path) -> None:
    mutant = only(tmp_path, SOUND)
    with pytest.raises(StaleError) as caught:
        mutant.apply(text)
    times = 2 if text.startswith("around\nold\n") else 0
    assert str(caught.value).startswith(
        f"{tmp_path / 'plan.mutants'}:3: plan/one is stale: its old lines occur {times} "
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("in a.txt\n", "1: expected `mutant NAME: what is wrong` first"),
        ("mutant one\n", "1: expected `mutant NAME: what is wrong`, got"),
        ("mutant one two: x\n", "1: expected `mutant NAME: what is wrong`, got"),
        ("mutant one: x\n-a\n", "1: plan/one names no file"),
        ("mutant one: x\nin a\n+a\n", "1: plan/one changes nothing"),
        ("mutant one: x\nin a\n a\n", "1: plan/one changes nothing"),
        ("mutant one: x\nin a\nequivalent\n-a\n", "3: expected in, by, quick, equivalent or a line of the patch"),
        ("mutant one: x\nin a\nquick\n-a\n", "1: plan/one is quick: it must be noticed"),
        ("mutant one: x\nin a\nquick\nby t\nequivalent y\n-a\n", "1: plan/one is quick: it must be noticed"),
    ],
)
def test_what_is_written_wrongly_is_named_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(PatchError) as caught:
        list(read(path))
    assert str(caught.value).startswith(f"{path}:{said}")


def test_names_are_used_once(tmp_path: Path) -> None:
    write(tmp_path, SOUND + SOUND)
    with pytest.raises(PatchError, match=r"plan/one is already at .*plan\.mutants:3"):
        load(tmp_path)


def test_what_is_built_for_a_file() -> None:
    assert built_parts("generator/plan.py") == ()
    assert built_parts("differential/compare.py") == ()
    assert built_parts("differential/recorder/journal.cpp") == ("recorders",)
    assert built_parts("differential/native/compare.cpp") == ("_native", "unit")
    assert built_parts("precompiled/core/types.def") == ("_core", "unit")
    unbuilt = {m.file for m in MUTANTS if not built_parts(m.file)}
    assert {Path(file).suffix for file in unbuilt} <= {".py", ".j2"}


def test_what_held_the_last_fault_is_built_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy = Copy(tmp_path, Interpreter(sys.executable, (), {}))
    asked: list[set[str]] = []
    fails = False

    def run(command: list[str], folder: Path) -> str:
        asked.append(set(command[2:]))
        if fails:
            raise CopyError("no")
        return ""

    monkeypatch.setattr(copies, "run", run)
    copy.build([CORE, UNIT], 1)
    copy.build([], 1)  # a fault in Python: the one in C++ before it must go
    assert asked == [{"_core", "relaunch_unit_tests"}] * 2
    copy.build([], 1)
    assert len(asked) == 2
    fails = True
    with pytest.raises(CopyError):
        copy.build([NATIVE], 1)
    with pytest.raises(CopyError):
        copy.build([CORE], 1)
    assert asked[2:] == [{"_native"}, {"_core", "_native"}]


def test_byte_code_of_a_fault_is_not_taken_for_that_of_the_source(tmp_path: Path) -> None:
    copy = Copy(tmp_path, Interpreter(sys.executable, (), {}))
    times = set()
    for text in ("a = 1\n", "a = 2\n") * 20:
        copy.write("a.py", text)
        times.add(int((tmp_path / "a.py").stat().st_mtime))
    assert len(times) == 40


@pytest.mark.parametrize(
    ("said", "outcome"),
    [("2 skipped in 0.1s", "not run"), ("1 passed, 1 skipped in 0.1s", "survived"), ("2 passed in 0.1s", "survived")],
)
def test_a_fault_whose_tests_are_all_skipped_was_not_tried(
    said: str, outcome: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Trials, "_execute", lambda *_: (0, said))
    (tmp_path / "a.txt").write_text("around\nold\n")
    copy = Copy(tmp_path, Interpreter(sys.executable, (), {}))
    assert Trials(False, True, 1, 10.0).run(copy, only(tmp_path, SOUND)).outcome == outcome


def tool(*arguments: str) -> Any:
    command = [sys.executable, "-m", "tools.mutants", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_list_counts_what_can_be_noticed() -> None:
    done = tool("--list")
    assert (done.returncode, done.stderr) == (0, "")
    *lines, total = done.stdout.splitlines()
    assert len(lines) == len(MUTANTS)
    assert total.endswith(f"- {sum(not mutant.equivalent for mutant in MUTANTS)} in all")


def test_unknown_names_are_refused() -> None:
    done = tool("--list", "plan", "no-such")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "no group and no fault is named no-such\n"
