"""Facts of every dialect: names, what each release's launcher takes, and the sizes that were recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from relaunch.generator.facts import Facts, Intake, Step

from relaunch import generator

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
RELEASES = ("3.0", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.9")
NATIVE = ("3.7", "3.9")
EVERY = tuple(f"triton-{release}-{backend}" for release in RELEASES for backend in ("cuda", "hip"))
FACTS = {dialect: generator.facts(dialect) for dialect in EVERY}


def spec(dialect: str, *signature: Any, **more: Any) -> generator.LauncherSpec:
    return generator.LauncherSpec(dialect, signature, **more)


def test_there_are_sixteen_and_twelve_are_generated() -> None:
    assert generator.all_dialects() == EVERY
    assert generator.dialects() == tuple(name for name in EVERY if name.split("-")[1] not in NATIVE)


def test_names_with_patch_numbers_and_releases_that_have_the_launcher_of_another() -> None:
    for name, dialect in (
        ("triton-3.1-cuda", "triton-3.0-cuda"),
        ("triton-3.1.0-hip", "triton-3.0-hip"),
        ("triton-3.5.1-cuda", "triton-3.5-cuda"),
        ("triton-3.8-cuda", "triton-3.9-cuda"),
        ("triton-3.8.0-hip", "triton-3.9-hip"),
    ):
        assert generator.facts(name) is FACTS[dialect]
        assert generator.facts(name).dialect == dialect


@pytest.mark.parametrize("name", ["triton-3-cuda", "triton-3.6", "triton-3.06-cuda", "triton-3.6-cuda\n", "3.6-cuda"])
def test_what_is_no_name(name: str) -> None:
    text = f"unknown dialect {name!r}; known: {', '.join(EVERY)}"
    with pytest.raises(generator.UnknownDialectError, match=f"^{re.escape(text)}$"):
        generator.facts(name)


@pytest.mark.parametrize(
    "dialect", [f"triton-{release}-{backend}" for release in NATIVE for backend in ("cuda", "hip")]
)
def test_native_launchers_are_described_but_not_generated(dialect: str, tmp_path: Path) -> None:
    text = f"{dialect} has nothing to generate: one native launcher serves every signature since Triton 3.7"
    assert generator.slots(spec(dialect, "i1", "u1", "i8", "fp16"))[:4] == [4, 4, 1, 2]
    with pytest.raises(generator.NothingToGenerateError, match=f"^{re.escape(text)}$"):
        generator.render(spec(dialect, "i32"))
    with pytest.raises(generator.NothingToGenerateError, match=f"^{re.escape(text)}$"):
        generator.build([spec(dialect, "i32")], tmp_path)
    assert list(tmp_path.iterdir()) == []


def golden_files() -> list[Path]:
    return sorted(GOLDEN.glob("*triton-*.jsonl"))


def test_every_dialect_has_a_recorded_file() -> None:
    names = {path.name for path in golden_files()}
    for facts in FACTS.values():
        assert f"triton-{facts.recorded}-{facts.backend}.jsonl" in names
        assert ".".join(facts.recorded.split(".")[:2]) in facts.releases


@pytest.mark.parametrize("path", golden_files(), ids=lambda path: path.stem)
def test_slots_of_recorded_launchers(path: Path) -> None:
    """Every slot size that was recorded from the released launchers follows from the frozen facts."""
    seen = 0
    with path.open() as lines:
        for case in map(json.loads, lines):
            one = generator.LauncherSpec(
                f"triton-{case['release']}-{case['backend']}",
                case["signature"],
                constants=case.get("constants", ()),
                tensordesc_meta=case.get("tensordesc_meta"),
            )
            if "slots" in case["expect"]:
                seen += 1
                assert generator.slots(one) == case["expect"]["slots"], case["id"]
    assert seen > 90


@pytest.mark.parametrize("dialect", EVERY)
def test_sizes_agree_with_c_types(dialect: str) -> None:
    sizes = {"float": 4, "double": 8, "CUdeviceptr": 8, "hipDeviceptr_t": 8, "CUtensorMap": 128}
    descriptor = FACTS[dialect].descriptor.source
    if descriptor is not None:
        sizes[descriptor.c_type] = descriptor.size
    for name, one in [*FACTS[dialect].types.items(), ("*", FACTS[dialect].pointer)]:
        if one.intake is Intake.NOTHING:
            assert (one.parameter, one.size, one.kernel_size) == ("", 0, 0)
            continue
        bits = re.fullmatch(r"u?int(\d+)_t", one.parameter)
        assert one.size == (int(bits[1]) // 8 if bits else sizes[one.parameter]), name
        assert 0 < one.kernel_size <= one.size
        assert bool(one.pack) is (one.intake is Intake.PACKED)
        assert one.converter.takes


def step_rules(facts: Facts) -> None:
    """What every order of steps has in common."""
    order = {step: i for i, step in enumerate(facts.steps)}
    assert len(order) == len(facts.steps)
    assert order[Step.ARGUMENTS] < order[Step.METADATA] < order[Step.ENTER_HOOK] < order[Step.LAUNCH]
    assert order[Step.LAUNCH] < min(order[Step.EXIT_HOOK], order[Step.PENDING_ERROR])
    assert (Step.FLAT_ARGUMENTS in order) is facts.native
    assert (Step.SCRATCH in order) is bool(facts.scratch)
    assert (Step.PACKING in order) is (
        not facts.native and any(one.intake is Intake.PACKED for one in facts.types.values())
    )
    assert (Step.DESCRIPTORS in order) is (not facts.native and facts.descriptor.source is not None)


@pytest.mark.parametrize("dialect", EVERY)
def test_facts_fit_together(dialect: str) -> None:
    facts = FACTS[dialect]
    step_rules(facts)
    names = [positional.name for positional in (*facts.prefix, *facts.metadata.elements)]
    assert len(set(names)) == len(names)
    assert set(facts.scratch) <= set(names)
    assert facts.launch.ways[-1].when == ""
    assert facts.exit_hook_after_failure is (facts.backend == "hip")
    assert facts.ensures_context is (facts.backend == "cuda" and "3.0" not in facts.releases)
    assert facts.tuples is facts.takes_constexpr is not facts.folds_constants
    expressions = [*facts.launch.factors, facts.launch.scaled, facts.launch.non_portable]
    for way in facts.launch.ways:
        expressions += [way.when, *(text for one in way.attributes for text in (one.when, *one.words))]
    for word in re.findall(r"[a-z_]+", " ".join(expressions)):
        assert word in names
    assert len({fault.name for fault in facts.faults}) == len(facts.faults)


def test_descriptor_entries() -> None:
    one, sizes = "tensordesc<fp16[64, 64]>", ("i32", "i32", "i64", "i64")
    flags = {"3.4": (), "3.5": ("i1",), "3.6": ("i1",), "3.7": ("i1", "i1"), "3.9": ("i1", "i1")}
    for dialect, facts in FACTS.items():
        release = dialect.split("-")[1]
        if release not in flags:
            with pytest.raises(generator.UnknownType):
                generator.expand(spec(dialect, one))
            continue
        lowered = ("*fp16", *["i64"] * 4, *flags[release], *sizes)
        assert generator.expand(spec(dialect, "i8", one)) == ("i8", *lowered)
        if release == "3.9":
            assert generator.expand(spec(dialect, ("i8", (one,)))) == (("i8", lowered),)
        else:
            with pytest.raises(generator.UnknownType, match=r"argument 0, item 1, item 0\)$"):
                generator.expand(spec(dialect, ("i8", (one,))))
        if not facts.descriptor.metadata:
            assert dialect in ("triton-3.4-hip", "triton-3.5-hip")
            with pytest.raises(ValueError, match=f"^{dialect} takes no descriptor metadata$"):
                generator.expand(spec(dialect, one, tensordesc_meta=({},)))
            continue
        name = "nvTmaDesc" if facts.backend == "cuda" else "tensordesc"
        assert generator.expand(spec(dialect, one, tensordesc_meta=({},))) == (name, *sizes)


def test_one_flag_of_metadata_for_a_whole_kernel() -> None:
    pair = ("tensordesc<i8[4]>", "tensordesc<i8[4]>")
    assert generator.expand(spec("triton-3.7-cuda", *pair, tensordesc_meta=({}, None)))[3] == "*i8"
    assert generator.expand(spec("triton-3.9-cuda", *pair, tensordesc_meta=({}, None)))[3] == "nvTmaDesc"


def test_im2col_entries() -> None:
    for entry in (
        "tensordesc_im2col<fp16[8, 64],input_rank=4>",
        "tensordesc_im2col<fp16[8, 64],L(a=[1]),input_rank=4>",
    ):
        expanded = generator.expand(spec("triton-3.9-cuda", entry))
        assert expanded == ("*fp16", *["i64"] * 8, "i1", "i1", *["i32"] * 4, *["i64"] * 4)
        with pytest.raises(generator.UnknownType):
            generator.expand(spec("triton-3.7-cuda", entry))
    with pytest.raises(generator.UnknownType):
        generator.expand(spec("triton-3.9-cuda", "tensordesc_im2col<fp16[8, 64]>"))


def test_tuples_and_constexpr_are_unknown_to_3_2() -> None:
    for dialect in EVERY[:4]:
        with pytest.raises(generator.UnknownType) as caught:
            generator.render(spec(dialect, "i32", ("i8", ("*fp32",))))
        assert str(caught.value) == f"{dialect} has no type '(i8, (*fp32,))' (argument 1)"
        with pytest.raises(generator.UnknownType) as caught:
            generator.render(spec(dialect, "constexpr"))
        assert str(caught.value) == f"{dialect} has no type 'constexpr' (argument 0)"


def test_tensor_maps_are_known_from_3_2_on_cuda() -> None:
    with pytest.raises(generator.UnknownType):
        generator.slots(spec("triton-3.0-cuda", "nvTmaDesc"))
    for dialect in EVERY:
        if dialect.endswith("hip"):
            with pytest.raises(generator.UnknownType):
                generator.slots(spec(dialect, "nvTmaDesc"))
        elif dialect != "triton-3.0-cuda":
            assert generator.slots(spec(dialect, "nvTmaDesc"))[0] == 128


def test_constants_are_taken_but_are_no_parameter() -> None:
    one = spec("triton-3.2-cuda", "*fp32", "*i8", "i32", "i32", constants=(1, 3))
    assert generator.slots(one) == [8, 4]
    source = generator.render(one)
    assert '"iiiKKOOOOOOii"' in source
    assert "take_pointer(argument1, 1, &pointer1)" in source
    assert "void *parameters[] = {&pointer0, &argument2};" in source
    assert "{NULL};" in generator.render(spec("triton-3.2-cuda", "i32", constants=(0,)))


@pytest.mark.parametrize("constants", [(2,), (-1,), (True,), ("0",), (0.0,)])
def test_constants_are_indices(constants: Any) -> None:
    text = f"constants are indices of the 2 arguments, not {constants[0]}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        generator.render(spec("triton-3.0-hip", "i32", "i32", constants=constants))


@pytest.mark.parametrize("dialect", EVERY[4:])
def test_later_dialects_fold_nothing(dialect: str) -> None:
    with pytest.raises(ValueError, match=f"^{dialect} folds no constants$"):
        generator.slots(spec(dialect, "i32", constants=(0,)))
