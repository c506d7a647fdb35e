"""Triton 3.2 on HIP: the launcher of 3.0."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.dialects.triton_3_0_hip import FACTS as BEFORE

FACTS = replace(BEFORE, dialect="triton-3.2-hip", releases=("3.2",), recorded="3.2.0")
