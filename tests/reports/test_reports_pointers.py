"""Pointers: whose memory is taken, by which address, and what a refusal names."""

from __future__ import annotations

from typing import Any

import pytest
from relaunch.differential.arguments import Arguments

ADDRESS = 0x7F0000001000
UNREACHABLE = 0xBA0000001000  # the recording driver's answer: invalid value
MAPPED = 0x910000001000  # and here another address, as for pinned memory
QUERY = {"cuda": "cuPointerGetAttribute", "hip": "hipPointerGetAttribute"}


def shown(address: int) -> str:
    return address.to_bytes(8, "little").hex()


def calls(driver: Any) -> list[str]:
    return [event["call"] for event in driver.events() if "call" in event]


def test_memory_that_the_device_reaches_is_taken_whoever_owns_it(each: Any, launch: Any, tensor: Any) -> None:
    """Managed and pinned: the driver says whether, and by which address."""
    launcher = each.bind("*fp32", "*i32", "**i8")
    launch(each, launcher, tensor(ADDRESS), tensor(MAPPED), tensor(MAPPED + 64))
    assert each.parameters() == [shown(ADDRESS), shown(MAPPED + 0x10000000), shown(MAPPED + 0x10000040)]
    assert calls(each)[:-1] == [QUERY[each.backend]] * 3


def test_memory_that_it_does_not_reach_is_refused_by_position(
    each: Any, launch: Any, tensor: Any, refused: Any
) -> None:
    """Pageable memory beside pointers of the device."""
    launcher = each.bind("*fp32", "*fp32", "i32", "*fp32", names="a b n c")
    for at in (0, 1, 3):
        values: list[Any] = [tensor(ADDRESS), tensor(ADDRESS), 3, tensor(ADDRESS)]
        values[at] = tensor(UNREACHABLE)
        text = (
            f"argument {at + 1} '{'abnc'[at]}' of add(*fp32, *fp32, i32, *fp32): address 0xba0000001000 of Tensor "
            "cannot be accessed from the device (is it in CPU memory?)"
        )
        refused(each, lambda values=values: launch(each, launcher, *values), ValueError, text)


def test_memory_of_another_device_is_named_by_it(each: Any, launch: Any, tensor: Any, refused: Any) -> None:
    """The driver cannot reach it from the current device; the tensor knows where it is."""

    class Placed(tensor):  # type: ignore[misc] # a fixture's class
        def __init__(self, address: int, device: Any) -> None:
            super().__init__(address)
            self.device = device

    class Device:
        def __str__(self) -> str:
            return "cuda:1"

    class Unreadable:
        def __str__(self) -> str:
            raise LookupError("no name")

    launcher = each.bind("*fp32", "*fp32", names="x y")
    place = "argument 2 'y' of add(*fp32, *fp32): address 0xba0000001000 of Placed"
    for device, words in (
        ("cuda:1", "(it is on cuda:1)"),
        (Device(), "(it is on cuda:1)"),
        ("cpu", "(it is on cpu)"),
        (Unreadable(), "(is it in CPU memory?)"),
        (None, "(is it in CPU memory?)"),
    ):
        text = f"{place} cannot be accessed from the device {words}"
        values = (tensor(ADDRESS), Placed(UNREACHABLE, device))
        refused(each, lambda values=values: launch(each, launcher, *values), ValueError, text)


def test_null_is_passed_without_a_question(each: Any, launch: Any, tensor: Any) -> None:
    """What an empty tensor gives: as an int, None, from data_ptr() and by DLPack's exchange."""
    exchanged = Arguments(each.dialect, lambda _: None).build({"dlpack": "0x0"})
    launcher = each.bind("*fp64", "*fp64", "*fp64", "*fp64", "i32")
    launch(each, launcher, 0, None, tensor(0), exchanged, 0)
    assert each.parameters() == ["00" * 8] * 4 + ["00" * 4]
    assert len(calls(each)) == 1


def test_an_overridden_data_ptr_is_called_and_may_refuse(each: Any, launch: Any, refused: Any) -> None:
    """A subclass of a type that is read by DLPack's exchange, without storage of its own."""
    made = Arguments(each.dialect, lambda _: None)
    plain = made.build({"dlpack": hex(ADDRESS)})

    class Wrapper(type(plain)):  # type: ignore[misc] # what the case form makes
        def data_ptr(self) -> int:
            raise RuntimeError("a wrapper has no storage")

    class Elsewhere(type(plain)):  # type: ignore[misc]
        def data_ptr(self) -> int:
            return MAPPED

    wrapped, elsewhere = Wrapper(), Elsewhere()
    wrapped.answer = elsewhere.answer = ADDRESS
    launcher = each.bind("*fp32", "*fp32")
    refused(each, lambda: launch(each, launcher, plain, wrapped), RuntimeError, "a wrapper has no storage")
    each.forget(launcher)
    launch(each, launcher, plain, elsewhere)
    assert each.parameters() == [shown(ADDRESS), shown(MAPPED + 0x10000000)]


class Silent:
    """A tensor that no one may print, compare, measure or read."""

    def data_ptr(self) -> int:
        return ADDRESS

    def forbidden(self, *_: Any) -> Any:
        raise AssertionError("looked at")

    __repr__ = __str__ = __format__ = __eq__ = __ne__ = __lt__ = __bool__ = forbidden
    __hash__ = __len__ = __iter__ = __getitem__ = __contains__ = __int__ = __float__ = __index__ = forbidden
    item = tolist = numpy = cpu = shape = dtype = property(forbidden)


def test_a_launch_looks_at_nothing_but_the_address(each: Any, launch: Any, full_launch: Any) -> None:
    """Nor does a hook's metadata, nor an error that names it."""
    launcher = each.bind("*fp32", "i32")
    launch(each, launcher, Silent(), 1)
    seen: list[Any] = []
    about = Silent()
    full_launch(each, launcher, Silent(), 1, about=about, enter=seen.append, exit=seen.append)
    assert [one is about for one in seen] == [True, True]
    for kind, value in (("fp32", "x"), ("i32", 2**40), ("*fp32", object())):
        launcher = each.bind("*fp32", kind)
        with pytest.raises((TypeError, OverflowError)):
            launch(each, launcher, Silent(), value)
