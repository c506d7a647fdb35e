"""Put seeded faults into copies of the project and see whether the tests notice.

Prints one line a fault and a table by group; exit 0 when every fault was noticed, 1 when one was not (it survived, hung
or could not be built), 2 when nothing could be tried: a stale patch, tests that fail without a fault, no compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.mutants.copies import Copy, CopyError, Interpreter, has_gtest
from tools.mutants.patches import Mutant, PatchError, StaleError, load
from tools.mutants.trial import Trials, Verdict

ROOT = Path(__file__).resolve().parents[2]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these: GROUP, GROUP/NAME or NAME; all where none is given")
    parser.add_argument("--named", action="store_true", help="run no tests but those that a fault names")
    parser.add_argument("--quick", action="store_true", help="those of ./run test, by the tests that they name")
    parser.add_argument(
        "--without-failing",
        action="store_true",
        help="leave out tests that fail without a fault; else nothing is tried",
    )
    parser.add_argument("--list", action="store_true", help="say what there is; try nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="copies at work at once (all cores)")
    parser.add_argument("--build-jobs", type=int, default=2, help="compilers at once in each copy (2)")
    parser.add_argument("--limit", type=float, default=600, help="seconds of tests for one fault (600)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has relaunch installed (this one)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutants", help="where the copies go")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the verdicts there, one object a line")
    return parser.parse_args()


def choose(mutants: Sequence[Mutant], names: Sequence[str], quick: bool) -> list[Mutant]:
    """The faults that are asked for. ValueError for a name that is none."""
    known = {name for mutant in mutants for name in (mutant.group, mutant.id, mutant.name)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"no group and no fault is named {', '.join(unknown)}")
    wanted = set(names)
    asked = [m for m in mutants if not wanted or wanted & {m.group, m.id, m.name}]
    return [mutant for mutant in asked if mutant.quick or not quick]


def tried(mutants: Sequence[Mutant], names: Sequence[str]) -> list[Mutant]:
    """Without those that nothing can notice, but where one is asked for by its own name."""
    return [mutant for mutant in mutants if not mutant.equivalent or {mutant.id, mutant.name} & set(names)]


def check_applies(mutants: Sequence[Mutant]) -> list[str]:
    """What is wrong with the patches, as texts."""
    wrong = []
    for mutant in mutants:
        path = ROOT / mutant.file
        try:
            mutant.apply(path.read_text())
        except OSError as error:
            wrong.append(f"{mutant.place}: {mutant.id}: {mutant.file}: {error.strerror}")
        except StaleError as error:
            wrong.append(str(error))
    return wrong


def show_list(mutants: Sequence[Mutant]) -> None:
    for mutant in mutants:
        mark = f"  [equivalent: {mutant.equivalent}]" if mutant.equivalent else "  [quick]" if mutant.quick else ""
        print(f"{mutant.id}: {mutant.title}{mark}")
    counts = Counter(mutant.group for mutant in mutants if not mutant.equivalent)
    print(", ".join(f"{group} {count}" for group, count in counts.items()), f"- {counts.total()} in all")


class Queue:
    """Faults to try. A copy goes on with the file it changed last: what it built of it is built anew anyway."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self._lock = threading.Lock()
        self._left: dict[str, list[Mutant]] = {}
        for mutant in mutants:
            self._left.setdefault(mutant.file, []).append(mutant)

    def clear(self) -> None:
        with self._lock:
            self._left.clear()

    def take(self, last_file: str) -> Mutant | None:
        with self._lock:
            if not self._left:
                return None
            file = last_file if last_file in self._left else max(self._left, key=lambda name: len(self._left[name]))
            mutant = self._left[file].pop(0)
            if not self._left[file]:
                del self._left[file]
            return mutant


class Session:
    """One run over chosen faults."""

    def __init__(self, arguments: argparse.Namespace, mutants: Sequence[Mutant]) -> None:
        self.folder: Path = arguments.folder.resolve()
        self.jobs = max(1, min(arguments.jobs, len(mutants)))
        self.mutants = mutants
        self.python = Interpreter.ask(arguments.python, ROOT)
        named = arguments.quick or arguments.named
        self.trials = Trials(not named and has_gtest(), named, arguments.build_jobs, arguments.limit)
        self.without_failing: bool = arguments.without_failing
        self.report: Path | None = arguments.json
        self.begin = time.monotonic()
        self.verdicts: list[Verdict] = []
        self._lock = threading.Lock()

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self.begin:6.1f} s  {text}", flush=True)

    def prepare(self) -> list[Copy]:
        """The copies, built, in which the tests pass. CopyError."""
        first = Copy(self.folder / "base", self.python)
        first.refresh(ROOT)
        parts = self.trials.parts(self.mutants)
        if parts:
            self.say(f"building {', '.join(parts)} in {first.folder}")
            first.configure(self.trials.with_unit)
            first.build(parts, os.cpu_count() or 1)
        first.set_up_python(parts)
        if not self.trials.with_unit and not self.trials.only_named:
            self.say("no GoogleTest here: the C++ unit tests are left out")
        self.say("running the tests without a fault")
        failing = self.trials.baseline(first, self.mutants, parts, min(self.jobs, 16))
        if failing:
            print(self.trials.log[-20000:])
            self.say(f"{len(failing)} tests fail without a fault: {', '.join(failing)}")
            if not self.without_failing:
                raise CopyError("nothing was tried: the tests must pass first (--without-failing leaves these out)")
        first.tidy()
        self.say(f"making {self.jobs} copies")
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(first.duplicate, (self.folder / str(n + 1) for n in range(self.jobs))))

    def run(self) -> list[Verdict]:
        copies = self.prepare()
        queue = Queue(self.mutants)

        def work(copy: Copy) -> None:
            file = ""
            while (mutant := queue.take(file)) is not None:
                file = mutant.file
                self.note(self.trials.run(copy, mutant))
            shutil.rmtree(copy.folder, ignore_errors=True)

        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                for _ in pool.map(work, copies):
                    pass
            except BaseException:  # an interrupt too: the others end now
                queue.clear()
                self.trials.stop()
                raise
        return self.verdicts

    def note(self, verdict: Verdict) -> None:
        if self.trials.stopped:
            return
        with self._lock:
            self.verdicts.append(verdict)
            count = f"[{len(self.verdicts)}/{len(self.mutants)}]"
            self.say(f"{count} {verdict.outcome:9} {verdict.id}  {verdict.seconds:.1f} s  {verdict.by}")
            if verdict.outcome not in ("caught", "survived"):
                print(verdict.log)
            if self.report is not None:
                with self.report.open("a") as lines:
                    lines.write(json.dumps(verdict.as_json()) + "\n")


def show_table(mutants: Sequence[Mutant], verdicts: Sequence[Verdict]) -> None:
    outcomes = {verdict.id: verdict.outcome for verdict in verdicts}
    print(f"\n{'group':12} faults  caught  equivalent")
    rows = [*dict.fromkeys(mutant.group for mutant in mutants), ""]
    for group in rows:
        mine = [mutant for mutant in mutants if mutant.group == group or not group]
        tried = [mutant for mutant in mine if not mutant.equivalent]
        caught = sum(outcomes.get(mutant.id) == "caught" for mutant in tried)
        print(f"{group or 'all':12} {len(tried):6}  {caught:6}  {len(mine) - len(tried):10}")
    for verdict in verdicts:
        if verdict.outcome != "caught":
            title = next(mutant.title for mutant in mutants if mutant.id == verdict.id)
            print(f"{verdict.outcome}: {verdict.id}: {title}")


def main() -> int:
    arguments = parse_arguments()
    try:
        chosen = choose(load(ROOT / "tests/mutants"), arguments.names, arguments.quick)
    except (PatchError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if arguments.list:
        show_list(chosen)
        return 0
    wrong = check_applies(chosen)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 2
    if arguments.json is not None:
        arguments.json.write_text("")
    try:
        verdicts = Session(arguments, tried(chosen, arguments.names)).run()
    except CopyError as error:
        print(error, file=sys.stderr)
        return 2
    show_table(chosen, verdicts)
    return 0 if all(verdict.outcome == "caught" for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
