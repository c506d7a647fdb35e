"""58 parameters: 29 tensors and 29 numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def many(
    p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28,
    n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19, n20, n21, n22, n23, n24, n25, n26, n27, n28,
):  # fmt: skip
    total = (
        n0
        + n1
        + n2
        + n3
        + n4
        + n5
        + n6
        + n7
        + n8
        + n9
        + n10
        + n11
        + n12
        + n13
        + n14
        + n15
        + n16
        + n17
        + n18
        + n19
        + n20
        + n21
        + n22
        + n23
        + n24
        + n25
        + n26
        + n27
        + n28
    )
    tl.store(p0, total + 0)
    tl.store(p1, total + 1)
    tl.store(p2, total + 2)
    tl.store(p3, total + 3)
    tl.store(p4, total + 4)
    tl.store(p5, total + 5)
    tl.store(p6, total + 6)
    tl.store(p7, total + 7)
    tl.store(p8, total + 8)
    tl.store(p9, total + 9)
    tl.store(p10, total + 10)
    tl.store(p11, total + 11)
    tl.store(p12, total + 12)
    tl.store(p13, total + 13)
    tl.store(p14, total + 14)
    tl.store(p15, total + 15)
    tl.store(p16, total + 16)
    tl.store(p17, total + 17)
    tl.store(p18, total + 18)
    tl.store(p19, total + 19)
    tl.store(p20, total + 20)
    tl.store(p21, total + 21)
    tl.store(p22, total + 22)
    tl.store(p23, total + 23)
    tl.store(p24, total + 24)
    tl.store(p25, total + 25)
    tl.store(p26, total + 26)
    tl.store(p27, total + 27)
    tl.store(p28, total + 28)


def main():
    tensors = [torch.zeros(4, dtype=torch.int64, device="cuda") for _ in range(29)]
    numbers = [100 + 3 * i for i in range(29)]
    many[(1,)](*tensors, *numbers)
    return [(tensors[i][:1], lambda i=i: torch.tensor([sum(numbers) + i], device="cuda")) for i in range(29)]
