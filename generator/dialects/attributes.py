"""Launch attributes, with the vendors' numbers (cuda.h of CUDA 13; HIP 7.1)."""

from __future__ import annotations

from dataclasses import replace

from relaunch.generator.facts import Attribute

SEVERAL_CTAS = "num_ctas != 1"

COOPERATIVE = Attribute("CU_LAUNCH_ATTRIBUTE_COOPERATIVE", 2, ("1",), "cooperative != 0")
PDL = Attribute("CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION", 6, ("1",), "pdl != 0")
OVERSIZED_SHARED = Attribute("CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE", 18, ("3",), "shared > 233472")
# 1: blocks of a cluster are spread over the device.
SPREAD = Attribute("CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE", 5, ("1",), SEVERAL_CTAS)
CLUSTER_OF_METADATA = Attribute(
    "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION", 4, ("cluster_x", "cluster_y", "cluster_z"), SEVERAL_CTAS
)
CLUSTER_OF_CTAS = replace(CLUSTER_OF_METADATA, words=("num_ctas", "1", "1"))

HIP_CLUSTER = Attribute("hipLaunchAttributeClusterDimension", 4, ("num_ctas", "1", "1"))
HIP_COOPERATIVE = Attribute("hipLaunchAttributeCooperative", 2, ("cooperative",))
