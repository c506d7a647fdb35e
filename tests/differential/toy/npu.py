"""Registers a made-up accelerator, whose launchers were generated from the templates beside this file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from relaunch.generator import Backend, facts, register
from relaunch.generator.facts import DescriptorFacts, ModuleFacts, Way

HERE = Path(__file__).resolve().parent
LIKE = facts("triton-3.6-hip")  # the built-in dialect that is nearest

CLUSTERS, TOGETHER, PLAIN = LIKE.launch.ways

FACTS = replace(
    LIKE,
    dialect="toy-1.0-npu",
    backend="npu",
    releases=("1.0",),
    recorded="",
    types={name: LIKE.types[name] for name in ("i8", "u16", "i32", "u64", "fp16", "fp32", "constexpr")},
    pointer=replace(LIKE.pointer, parameter="uint64_t"),
    hidden=tuple(replace(hidden, c_type="uint64_t") for hidden in LIKE.hidden),
    descriptor=DescriptorFacts("", source=None, expanded=False, metadata=False),
    launch=replace(
        LIKE.launch,
        ways=(
            Way("npuLaunchClusters", CLUSTERS.when, CLUSTERS.attributes),
            Way("npuLaunchTogether", TOGETHER.when),
            Way("npuLaunch", PLAIN.when),
        ),
    ),
    pointers=replace(LIKE.pointers, query="npuPointer"),
    module=ModuleFacts(
        interned=LIKE.module.interned,
        functions=(
            "npuErrorText", "npuLastError", "npuLaunch", "npuLaunchClusters", "npuLaunchTogether", "npuPointer",
        ),
        library="libnpu.so",
    ),
)  # fmt: skip

register(
    Backend(
        name="npu",
        facts=(FACTS,),
        templates=HERE / "templates",
        recorder=HERE / "libnpu.so",
        follows={"toy-1.0-npu": "triton-3.6-hip"},
        headers=HERE / "include",
    )
)
