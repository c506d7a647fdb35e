"""The list of wanted differences between the legacy launchers and ours, and what each makes of an outcome.

`divergences.json` is the list: id, title, dialects, a condition on the signature, conditions on the call, the two
kinds of rewrite, and the reason. The words that it uses are defined in `conditions.py` and `rewrites.py`; all of them
look at the input alone, so a divergence is known before anything has run.

Several entries may hold for one case. They compose in the order of the list: every rewrite of the call is applied,
legacy runs the result once, then every rewrite of the outcome is applied in the same order. A launch that ends at an
early stage is recognised by each rewrite of a later stage and left alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from typing import Any

from relaunch.differential.case import DIALECTS, Case, Signature
from relaunch.differential.conditions import CALL as CALL_CONDITIONS
from relaunch.differential.conditions import SIGNATURE as SIGNATURE_CONDITIONS
from relaunch.differential.outcome import Outcome
from relaunch.differential.rewrites import CALL as CALL_REWRITES
from relaunch.differential.rewrites import OUTCOME as OUTCOME_REWRITES
from relaunch.differential.situation import Situation

from relaunch import generator

RunLegacy = Callable[[Case], Outcome]


@dataclass(frozen=True)
class Divergence:
    """One entry of the list."""

    id: str
    title: str
    summary: str  # a few words for reports
    dialects: tuple[str, ...]
    signature: str
    call: tuple[str, ...]
    rewrite_call: tuple[tuple[str, Any], ...]
    rewrite_outcome: tuple[tuple[str, Any], ...]
    reason: str

    def holds(self, situation: Situation) -> bool:
        return (
            generator.base_of(situation.dialect) in self.dialects
            and SIGNATURE_CONDITIONS[self.signature](situation)
            and self.holds_for_call(situation)
        )

    def holds_for_call(self, situation: Situation) -> bool:
        """As `holds`, where the dialect and the signature are known to have what the entry is about."""
        return all(CALL_CONDITIONS[name](situation) for name in self.call)


@lru_cache(maxsize=1)
def divergences() -> tuple[Divergence, ...]:
    """The whole list, in the order in which entries compose. ValueError where it uses an unknown word."""
    entries = json.loads(files("relaunch.differential").joinpath("divergences.json").read_text("utf-8"))
    return tuple(_read(entry) for entry in entries)


def _read(entry: dict[str, Any]) -> Divergence:
    rewrite = entry["rewrite"]
    for names, known in (
        ([entry["signature"]], SIGNATURE_CONDITIONS),
        (entry["call"], CALL_CONDITIONS),
        (rewrite["call"], CALL_REWRITES),
        (rewrite["outcome"], OUTCOME_REWRITES),
    ):
        for name in names:
            if name not in known:
                raise ValueError(f"divergences.json: {entry['id']} uses the unknown word {name!r}")
    return Divergence(
        id=entry["id"],
        title=entry["title"],
        summary=entry["summary"],
        dialects=tuple(name for name in DIALECTS if any(fnmatchcase(name, wanted) for wanted in entry["dialects"])),
        signature=entry["signature"],
        call=tuple(entry["call"]),
        rewrite_call=tuple(rewrite["call"].items()),
        rewrite_outcome=tuple(rewrite["outcome"].items()),
        reason=entry["reason"],
    )


def possible(dialect: str, signature: Signature | None) -> tuple[Divergence, ...]:
    """The entries that calls of an expanded signature can meet; without one, those of the dialect."""
    seen = None if signature is None else Situation(dialect, generator.facts(dialect).backend, signature, {})
    return tuple(
        entry
        for entry in divergences()
        if generator.base_of(dialect) in entry.dialects
        and (seen is None or SIGNATURE_CONDITIONS[entry.signature](seen))
    )


def applicable(case: Case) -> list[str]:
    """Ids of the entries whose conditions hold for the case, in the order of the list; none without a launcher."""
    try:
        situation = Situation.of(case)
    except (AssertionError, generator.UnknownType, ValueError):
        return []
    return [entry.id for entry in _applicable(situation)]


def expected(case: Case, run_legacy: RunLegacy) -> tuple[Outcome, list[str]]:
    """What ours must do, and the ids without which that would be another outcome. Not for wrapped cases.

    `run_legacy` gives what was recorded where the released launcher is native: there only outcomes are rewritten.
    Legacy is run on the inputs that `legacy_runs` lists and on no others. Ours is held to the `visible` part; texts
    are each launcher's own.
    """
    situation = Situation.of(case)
    return expected_of(case, situation, _applicable(situation), run_legacy)


def expected_of(
    case: Case, situation: Situation, entries: tuple[Divergence, ...], run_legacy: RunLegacy
) -> tuple[Outcome, list[str]]:
    """As `expected`, where the case's situation and the entries that hold for it are known."""
    outcome = _outcome(case, situation, entries, run_legacy)
    if not entries:
        return outcome, []
    decisive = [
        left_out.id
        for left_out in entries
        if visible(_outcome(case, situation, _without(entries, left_out), run_legacy)) != visible(outcome)
    ]
    if not decisive and visible(run_legacy(case)) != visible(outcome):
        decisive = [entry.id for entry in entries]  # each alone would be enough
    return outcome, decisive


def legacy_runs(case: Case) -> list[Case]:
    """Every input on which `expected` runs legacy, the case itself first."""
    situation = Situation.of(case)
    entries = _applicable(situation)
    if not entries:
        return [case]
    choices = [entries, *(_without(entries, left_out) for left_out in entries)]
    runs = [case] + [_with_call(case, _rewritten(situation, choice)) for choice in choices]
    return list({call_key(run): run for run in runs}.values())


def call_key(case: Case) -> str:
    """Equal for cases that a launcher cannot tell apart."""
    told_apart = [case.dialect, case.signature, case.constants, case.call]
    return json.dumps(told_apart, sort_keys=True, separators=(",", ":"))


def visible(outcome: Outcome) -> Outcome:
    """The part of an outcome in which launchers must agree: slots, events, the type of the error."""
    if "events" not in outcome:
        return outcome
    error = outcome["error"]
    return {**outcome, "error": None if error is None else {"type": error["type"]}}


def _applicable(situation: Situation) -> tuple[Divergence, ...]:
    return tuple(entry for entry in divergences() if entry.holds(situation))


def _without(entries: Iterable[Divergence], left_out: Divergence) -> tuple[Divergence, ...]:
    return tuple(entry for entry in entries if entry is not left_out)


def _rewritten(situation: Situation, entries: Iterable[Divergence]) -> Situation:
    for entry in entries:
        for name, value in entry.rewrite_call:
            situation = CALL_REWRITES[name](situation, value)
    return situation


def _with_call(case: Case, situation: Situation) -> Case:
    return replace(case, call=situation.call)


def _outcome(case: Case, situation: Situation, entries: tuple[Divergence, ...], run_legacy: RunLegacy) -> Outcome:
    outcome = run_legacy(_with_call(case, _rewritten(situation, entries)) if entries else case)
    for entry in entries:
        for name, value in entry.rewrite_outcome:
            if "events" in outcome:
                outcome = OUTCOME_REWRITES[name](situation, outcome, value)
    return outcome


def render() -> str:
    """docs/divergences.md, rendered from the list."""
    lines = [
        "# Wanted differences",
        "",
        "Rendered from `differential/divergences.json` by `python -m relaunch.differential.divergence`.",
        "",
        "Every call that a legacy launcher launches is launched by the precompiled one with an equal record, and",
        "every call that it rejects is rejected with the same exception type. The entries below are the only",
        "exceptions. Each holds under a condition on the input; what legacy does with the rewritten input, itself",
        "rewritten, is then exactly what the precompiled launcher must do. The entries compose in this order.",
        "The released launchers of 3.7 and later are native, and there is nothing to generate: for them what was",
        "recorded is rewritten.",
        "",
        "Two differences have no entry. Legacy does not survive the first: tuples nested deeper than 29 kill every",
        "legacy launcher (the format parser of CPython ends the process); ours takes them as any others, up to 256.",
        "The second lies above the C launchers: a launcher object that is given descriptor objects and a wrong number",
        "of arguments encodes descriptors before it raises TypeError, or what one of them raises. Ours counts first.",
    ]
    for entry in divergences():
        lines += ["", f"## {entry.id} {entry.title}", "", entry.reason, ""]
        condition = "; ".join(entry.call) + ("" if entry.signature == "any" else f" (the signature {entry.signature})")
        lines += [f"- dialects: {', '.join(f'`{name}`' for name in entry.dialects)}", f"- when: {condition}"]
        lines += [f"- legacy runs with: {_words(entry.rewrite_call) or 'the same input'}"]
        lines += [f"- its outcome then: {_words(entry.rewrite_outcome) or 'as it is'}"]
    return "\n".join(lines) + "\n"


def _words(rewrites: Iterable[tuple[str, Any]]) -> str:
    return "; ".join(name if value is None else f"{name}: `{json.dumps(value)}`" for name, value in rewrites)


if __name__ == "__main__":
    print(render(), end="")
