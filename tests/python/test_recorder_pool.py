"""Worker processes: outcomes in order, deaths and silence attributed to the right case, and the run goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import pool
from relaunch.differential.case import Case

CALL = {
    "cuda": {
        "grid": [1, 1, 1],
        "stream": "0x1",
        "function": "0xf00",
        "metadata": [4, 1, 0],
        "cooperative": False,
        "pdl": False,
        "global_scratch": None,
        "profile_scratch": None,
        "enter": "none",
        "exit": "none",
    },
    "hip": {
        "grid": [1, 1, 1],
        "stream": "0x1",
        "function": "0xf00",
        "metadata": [4, 1, 0],
        "cooperative": False,
        "profile_scratch": None,
        "enter": "none",
        "exit": "none",
        "warp_size": 64,
    },
}


def case(backend: str, signature: list[Any], args: list[Any], **call: Any) -> Case:
    return Case.from_json(
        {
            "id": f"{backend} {signature} {args}",
            "release": "3.6.0",
            "backend": backend,
            "signature": signature,
            "call": {**CALL[backend], "args": args, **call},
        }
    )


def params(outcome: dict[str, Any]) -> list[str]:
    (launch,) = [event for event in outcome["events"] if "params" in event]
    return list(launch["params"])


def test_outcomes_keep_the_order_of_the_cases() -> None:
    """Two backends mixed, batches far smaller than the run, several workers."""
    cases = [case("hip" if i % 3 else "cuda", ["i32", "*fp32"], [i, {"tensor": "0x1000"}]) for i in range(60)]
    told: list[tuple[int, int]] = []
    outcomes = pool.run_cases(
        cases, "generated", jobs=3, batch_cases=4, progress=lambda done, total: told.append((done, total))
    )
    assert [params(outcome)[0] for outcome in outcomes] == [i.to_bytes(4, "little").hex() for i in range(60)]
    assert told[-1] == (60, 60)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.fixture
def deadly_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Launchers are built so that calling a hook kills the process."""
    (tmp_path / "deadly.h").write_text(
        "#include <Python.h>\n#define PyObject_CallOneArg(hook, argument) (abort(), hook)\n"
    )
    compiler = os.environ.get("CC", "gcc")
    monkeypatch.setenv("CC", f"{compiler} -include {tmp_path / 'deadly.h'}")


@pytest.mark.usefixtures("deadly_hooks")
def test_death_is_the_result_of_its_case_alone() -> None:
    """A generated launcher that dies takes no other case with it."""
    good = [case("hip", ["*fp32"], [{"tensor": f"0x{i}000"}]) for i in range(1, 4)]
    deadly = case("hip", ["*fp32"], [None], enter="ok")
    outcomes = list(pool.run_cases([good[0], deadly, good[1], deadly, deadly, good[2]], "generated"))
    assert [outcome.get("crash", False) for outcome in outcomes] == [False, True, False, True, True, False]
    assert outcomes[1] == {"crash": True, "reason": "SIGABRT"}
    assert [params(outcomes[i])[0] for i in (0, 2, 5)] == [f"00{i}0000000000000" for i in (1, 2, 3)]


def test_released_deaths_are_errors() -> None:
    """Where the released HIP launcher dies of a null pointer, the regenerated one raises and launches nothing."""
    cases = [case("hip", ["*fp32"], [argument]) for argument in ({"object": 1}, {"tensor_raises": "KeyError"})]
    for outcome in pool.run_cases(cases, "generated"):
        assert outcome["events"] == []
        assert outcome["error"] == {
            "type": "TypeError",
            "text": "Pointer argument must be either uint64 or have data_ptr method",
        }


def test_slots_come_from_the_frozen_facts_where_the_case_has_none() -> None:
    (outcome,) = pool.run_cases([case("cuda", ["i8", "fp16", "constexpr"], [1, 2, 3])], "generated")
    assert outcome["slots"] == [1, 2, 8, 8]
    assert params(outcome) == ["01", "0040", "00" * 8, "00" * 8]


def test_hooks_and_intake_lie_among_the_driver_calls() -> None:
    outcomes = pool.run_cases(
        [case("cuda", ["*fp32"], [{"tensor": "0x910000000000"}], enter="ok", exit="raise")], "generated"
    )
    (outcome,) = outcomes
    assert [event.get("hook") or event.get("intake") or event["call"] for event in outcome["events"]] == [
        *("enter", "data_ptr", "cuPointerGetAttribute", "cuLaunchKernelEx", "exit")
    ]
    assert outcome["error"] == {"type": "RuntimeError", "text": "exit hook failed"}


@pytest.mark.parametrize("launcher", ["generated", "precompiled"])
def test_unknown_type_gives_a_bind_error_and_no_event(launcher: str) -> None:
    known = case("cuda", ["i32"], [7])
    outcomes = list(pool.run_cases([case("cuda", ["fp8e5"], [1]), known], launcher))
    assert set(outcomes[0]) == {"bind_error"}
    assert "fp8e5" in outcomes[0]["bind_error"]["text"]
    assert params(outcomes[1])[0] == "07000000"


def test_unknown_launcher_is_refused() -> None:
    with pytest.raises(ValueError, match="launcher must be one of generated, precompiled, not 'magic'"):
        pool.run_cases([], "magic")


def test_leaving_early_ends_the_workers(tmp_path: Path) -> None:
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    before = children.read_text() if children.exists() else ""
    cases = [case("cuda", ["i32"], [i]) for i in range(2000)]
    outcomes = pool.run_cases(cases, "generated", batch_cases=10)
    assert params(next(outcomes))[0] == "00000000"
    outcomes.close()  # type: ignore[attr-defined]
    assert not children.exists() or children.read_text() == before


def test_workers_import_what_their_parent_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a module that happens to lie in the current directory."""
    for name in ("json", "relaunch", "mmap"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('wrong module')\n")
    monkeypatch.chdir(tmp_path)
    (outcome,) = pool.run_cases([case("cuda", ["i32"], [7])], "precompiled")
    assert params(outcome)[0] == "07000000"


FAKE = """
    import os, sys, time
    from relaunch.differential import tasks, worker

    class Fake:
        left_behind = False

        def run(self, task):
            what = task.call["what"]
            if what == "spoil":
                Fake.left_behind = True
            if what == "die" or (what == "die if spoilt" and Fake.left_behind):
                os.abort()
            if what == "leave":
                os._exit(3)
            if what == "sleep":
                time.sleep(60)
            if what == "fault":
                raise ZeroDivisionError("the runner's own")
            return b'"' + what.encode() + b'"'

    batch = tasks.Batch(tuple(tasks.Task("", "", (), {"what": what}, None) for what in sys.argv[1:]), 0.3)
    worker.run_batch(Fake(), batch)
"""


def run_fake(*what: str) -> subprocess.CompletedProcess[str]:
    """A worker's batch with a runner that does as it is told, in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(FAKE), *what]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def answers(*what: str) -> list[Any]:
    done = run_fake(*what)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


DEATH = {"crash": True, "reason": "SIGABRT"}
SILENCE = {"hang": True, "reason": "no answer in 0.3 s"}


def test_deaths_first_in_a_row_and_last() -> None:
    assert answers("die", "a", "die", "die", "b", "die") == [DEATH, "a", DEATH, DEATH, "b", DEATH]


def test_leaving_the_process_is_a_death() -> None:
    assert answers("a", "leave", "b") == ["a", {"crash": True, "reason": "exit status 3"}, "b"]


def test_silence_is_bounded() -> None:
    assert answers("a", "sleep", "b", "sleep") == ["a", SILENCE, "b", SILENCE]


def test_what_an_earlier_case_left_behind_is_not_held_against_a_later_one() -> None:
    assert answers("spoil", "a", "die if spoilt", "b") == ["spoil", "a", "die if spoilt", "b"]


def test_fault_of_the_worker_itself_is_no_outcome() -> None:
    done = run_fake("a", "fault", "b")
    assert done.returncode == 1
    assert done.stdout == '"a"\n'
    assert "ZeroDivisionError: the runner's own" in done.stderr
    assert "task 1 of a batch could not be run" in done.stderr
