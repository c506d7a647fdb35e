"""Launches by dialect: the driver's function, attributes, grid, hidden parameters, metadata, and what comes first."""

from __future__ import annotations

from typing import Any

import pytest

import relaunch

STREAM = 0x55D000001000
SPREAD = [5, "01000000"]


def cluster(*dims: int) -> list[Any]:
    return [4, b"".join(size.to_bytes(4, "little") for size in dims).hex()]


def launch(driver: Any, launcher: relaunch.Launcher, *args: Any, grid: Any = (2, 3, 4), **changes: Any) -> None:
    given = {
        "stream": STREAM,
        "function": 0xF01,
        "metadata": driver.metadata(),
        "launch_metadata": "about",
        "enter": None,
        "exit": None,
        **changes,
    }
    launcher.launch(*grid, *given.values(), *args)


def launched(driver: Any, *args: Any, bound: Any = (), options: Any = None, **changes: Any) -> dict[str, Any]:
    """What one launch asked of the driver."""
    launcher = driver.bind(*bound, **(options or {}))
    driver.forget(launcher)
    launch(driver, launcher, *args, **changes)
    (event,) = driver.launches()
    return dict(event)


def test_the_plain_launch(each: Any) -> None:
    event = launched(each, 5, bound=["i32"], metadata=each.metadata(8, 1, 512))
    plain = "cuLaunchKernel" if each.at_least < (3, 4) else "cuLaunchKernelEx"
    assert event == {
        "call": plain if each.backend == "cuda" else "hipModuleLaunchKernel",
        "grid": [2, 3, 4],
        "block": [256 if each.backend == "cuda" else 512, 1, 1],
        "shared": 512,
        "stream": hex(STREAM),
        "function": "0xf01",
        "gil_held": 0 if each.backend == "cuda" else 1,
        "attributes": [],
        "params": ["05000000", *["0000000000000000"] * each.hidden],
    }


HIDDEN = {
    "3.0": ((), ()),
    "3.2": ((), ()),
    "3.3": (("global_scratch",), ("global_scratch",)),
    "3.4": (("global_scratch",), ("global_scratch",)),
    **dict.fromkeys(("3.5", "3.6", "3.7", "3.9"), (("global_scratch", "profile_scratch"),) * 2),
}
NULL_GLOBAL = ("3.3", "3.4", "3.5", "3.6", "3.7")  # on HIP


def test_hidden_parameters(each: Any) -> None:
    names = HIDDEN[each.release][each.backend == "hip"]
    launcher = each.bind("i32")
    found = [parameter for parameter in launcher.parameters if parameter["hidden"]]
    assert [parameter["name"] for parameter in found] == list(names)
    assert all((one["type"], one["slot_size"], one["size"]) == ("*i8", 8, 8) for one in found)
    assert relaunch.Plan("i32", dialect=each.dialect).hidden_version == len(names)
    for name in ("global_scratch", "profile_scratch"):
        is_null = name == "global_scratch" and each.backend == "hip" and each.release in NULL_GLOBAL
        if name in names and not is_null:
            event = launched(each, 5, bound=["i32"], options={name: 0x7A0000000000})
            assert event["params"][1 + names.index(name)] == "00000000007a0000"
            continue
        with pytest.raises(relaunch.BindError) as caught:
            each.bind("i32", **{name: 0x7A0000000000})
        passes = "passes a null" if is_null else "has no"
        assert str(caught.value) == f"{each.dialect} {passes} {name}; none can be given"


ATTRIBUTES = {
    "3.0": [cluster(2, 1, 1), SPREAD],
    "3.2": [cluster(2, 1, 1), SPREAD],
    "3.3": [cluster(2, 1, 1), SPREAD, [2, "01000000"]],
    **{
        release: [[6, "01000000"], [2, "01000000"], cluster(2, 1, 1), SPREAD]
        for release in ("3.4", "3.5", "3.6", "3.7", "3.9")
    },
}


@pytest.mark.parametrize("release", ATTRIBUTES)
def test_every_attribute_that_a_cuda_release_has(of: Any, release: str) -> None:
    driver = of(f"{release}-cuda")
    options = {"cooperative": driver.at_least >= (3, 3), "pdl": driver.at_least >= (3, 4)}
    event = launched(driver, options=options, metadata=driver.metadata(4, 2))
    assert event["call"] == "cuLaunchKernelEx"
    assert event["attributes"] == ATTRIBUTES[release]
    assert event["grid"] == [4, 3, 4]
    shared = launched(driver, options=options, metadata=driver.metadata(4, 2, 233473))["attributes"]
    oversize = [[18, "03000000"]] if release == "3.9" else []
    assert shared == oversize + ATTRIBUTES[release]
    at_most = launched(driver, options=options, metadata=driver.metadata(4, 2, 233472))["attributes"]
    assert at_most == ATTRIBUTES[release]


def test_more_attributes_than_the_released_3_9_has_room_for(of: Any) -> None:
    driver = of("3.9-cuda")
    options = {"cooperative": True, "pdl": True, "preferred_cluster": (8, 1, 1), "num_ctas": 2, "shared": 262144}
    launcher = driver.bind(function=None, **options)
    driver.forget(launcher)
    launch(driver, launcher, metadata=(4, 2, 262144))
    (event,) = driver.launches()
    preferred = [11, cluster(8, 1, 1)[1]]
    assert event["attributes"] == [[18, "03000000"], *ATTRIBUTES["3.9"], preferred]


def test_cooperative_launches(each: Any) -> None:
    if each.at_least < (3, 3):
        with pytest.raises(relaunch.BindError) as caught:
            each.bind(cooperative=True)
        assert str(caught.value) == f"{each.dialect} has no cooperative"
        return
    event = launched(each, options={"cooperative": True})
    if each.backend == "cuda":
        assert (event["call"], event["attributes"]) == ("cuLaunchKernelEx", [[2, "01000000"]])
    else:
        assert (event["call"], event["attributes"]) == ("hipModuleLaunchCooperativeKernel", [])


@pytest.mark.parametrize("release", ["3.0", "3.2", "3.3", "3.4", "3.5"])
def test_clusters_of_older_releases_scale_every_dimension(of: Any, refused: Any, release: str) -> None:
    driver = of(f"{release}-cuda")
    event = launched(driver, metadata=(4, 6, 0, 1, 2, 3))
    assert event["grid"] == [2, 6, 12]
    assert event["attributes"] == [cluster(1, 2, 3), SPREAD]
    # The numbers count where num_ctas says that there are clusters, whatever their product.
    event = launched(driver, metadata=(4, 1, 0, 2, 2, 2))
    assert (event["grid"], event["attributes"]) == ([2, 3, 4], [])
    launcher = driver.bind(num_ctas=4, cluster=(1, 4, 1))
    driver.forget(launcher)
    launcher(2, 3, 4, 0)
    launch(driver, launcher, metadata=(4, 4, 0, 1, 4, 1))
    launch(driver, launcher, metadata=(4, 4, 0, 4, 1, 1))
    assert [one["grid"] for one in driver.launches()] == [[2, 12, 4], [2, 12, 4], [8, 3, 4]]
    for axis, metadata in enumerate([(4, 2, 0, 2, 1, 1), (4, 2, 0, 1, 2, 1), (4, 2, 0, 1, 1, 2)]):
        grid = [1, 1, 1]
        grid[axis] = 2**30
        text = f"grid_{'xyz'[axis]} of add(): expected at most 2147483647 blocks, got 1073741824 times 2 CTAs"
        refused(driver, lambda g=grid, m=metadata: launch(driver, launcher, grid=g, metadata=m), ValueError, text)
    text = "grid_y of add(): expected 0 or more blocks, got 3 times -1 CTAs"
    refused(driver, lambda: launch(driver, launcher, metadata=(4, 2, 0, 1, -1, 1)), ValueError, text)


def test_what_was_bound_decides_nothing_where_metadata_is_given(each: Any) -> None:
    """The same launches from launchers that were bound with each of the geometries themselves."""
    counts = [(4, 1, 0), (8, 1, 0), (4, 1, 233473), (4, 2, 0), (4, 2, 233473), (4, 4, 0), (4, 16, 233473)]
    older = each.at_least < (3, 6)
    metadata = [(*one, *dims) for one in counts for dims in ([(one[1], 1, 1), (1, one[1], 1)] if older else [()])]
    seen = []
    for warps, ctas, shared, *dims in metadata:
        given: dict[str, Any] = {"num_warps": warps, "num_ctas": ctas, "shared": shared, "function": None}
        if older and ctas > 1 and each.backend == "cuda":
            given["cluster"] = tuple(dims)
        launcher = each.bind(**given)
        each.forget(launcher)
        for one in metadata:
            launch(each, launcher, metadata=one)
        seen.append(each.events())
    assert [events for events in seen if events != seen[0]] == []


@pytest.mark.parametrize("release", ["3.0", "3.2", "3.3", "3.4", "3.5"])
def test_hip_had_no_clusters(of: Any, release: str) -> None:
    driver = of(f"{release}-hip")
    event = launched(driver, metadata=(4, 2, 0, 2, 1, 1))
    assert (event["call"], event["grid"], event["attributes"]) == ("hipModuleLaunchKernel", [2, 3, 4], [])
    with pytest.raises(relaunch.BindError) as caught:
        driver.bind(cluster=(2, 1, 1), num_ctas=2)
    assert str(caught.value) == f"{driver.dialect} has no cluster"


@pytest.mark.parametrize("release", ["3.6", "3.7", "3.9"])
def test_hip_clusters(of: Any, release: str) -> None:
    driver = of(f"{release}-hip")
    event = launched(driver, options={"cooperative": True}, metadata=(4, 2, 0))
    assert (event["call"], event["grid"]) == ("hipDrvLaunchKernelEx", [4, 3, 4])
    assert event["attributes"] == [cluster(2, 1, 1), [2, "01000000"]]


def test_cluster_options(each: Any) -> None:
    if each.backend == "hip":
        return
    older = each.at_least < (3, 6)
    with pytest.raises(relaunch.BindError) as caught:
        each.bind(cluster=(2, 1, 1), num_ctas=1 if older else 2)
    assert str(caught.value) == (
        f"cluster=(2, 1, 1) needs num_ctas: {each.dialect} has no clusters where it is 1"
        if older
        else "cluster=(2, 1, 1) and num_ctas=2: only one of them can be given"
    )


def test_16_ctas_are_allowed_first_from_3_6_on(each: Any) -> None:
    launcher = each.bind()
    launch(each, launcher, metadata=each.metadata(4, 16))
    asked = [event["args"] for event in each.events() if event["call"] == "cuFuncSetAttribute"]
    assert asked == ([["f01", "14", "1"]] if each.backend == "cuda" and each.at_least >= (3, 6) else [])


def test_a_context_is_made_where_the_release_makes_one(each: Any) -> None:
    launcher = each.bind("i32", function=0xF00)
    for call in (lambda: launcher(1, 1, 1, 0, 5), lambda: launch(each, launcher, 5)):
        each.forget(launcher)
        each.recorder.no_context()
        call()
        made = [event["call"] for event in each.events()][:-1]
        ensured = each.backend == "cuda" and each.at_least >= (3, 2)
        assert made == (["cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"] if ensured else [])
    # Before anything is looked at.
    for call in (lambda: launcher("x", 1, 1, 0, 5), lambda: launch(each, launcher, 5, grid=("x", 1, 1))):
        each.forget(launcher)
        each.recorder.no_context()
        with pytest.raises(TypeError):
            call()
        assert [event["call"] for event in each.events()] == made


METADATA_WORDS = {
    True: "six ints (num_warps, num_ctas, shared, cluster_x, cluster_y, cluster_z)",
    False: "three ints (num_warps, num_ctas, shared)",
}


def test_metadata_that_is_refused(each: Any, refused: Any) -> None:
    right = list(each.metadata())
    any_sequence = each.at_least >= (3, 7)
    front = "sequence of" if any_sequence else "tuple of"
    text = f"kernel_metadata of add(i32): expected a {front} {METADATA_WORDS[each.at_least < (3, 6)]}, got "
    no_tuple = SystemError if each.backend == "hip" and not any_sequence else TypeError
    launcher = each.bind("i32")
    entered: list[Any] = []

    def check(metadata: Any, kind: type[BaseException], words: str) -> None:
        call = lambda: launch(each, launcher, 5, metadata=metadata, enter=entered.append)  # noqa: E731
        refused(each, call, kind, words)
        assert entered == []

    check(None, no_tuple, text + "NoneType")
    check({0: 4, 1: 1, 2: 0}, no_tuple, text + "dict")
    check(tuple(right[:-1]), TypeError, text + f"{len(right) - 1} items")
    check((*right, 1), TypeError, text + f"{len(right) + 1} items")
    wrong = (*right[:-1], "x")
    if each.backend == "cuda" and not any_sequence:
        check(wrong, TypeError, text + ", ".join([*map(str, right[:-1]), "str"]))
        check((2**31, *right[1:]), TypeError, text + ", ".join(["2147483648", *map(str, right[1:])]))
    else:
        last = "shared" if len(right) == 3 else "cluster_z"
        check(wrong, TypeError, f"{last} in kernel_metadata of add(i32): expected an int, got str")
        place = "num_warps in kernel_metadata of add(i32)"
        check((2**31, *right[1:]), OverflowError, f"{place}: expected an int that fits i32, got 2147483648")
    if any_sequence:
        check([1], TypeError, text + "list")
        check(b"123", TypeError, text + "bytes")
    else:
        check(right, no_tuple, text + "list")


@pytest.mark.parametrize("dialect", ["3.7-cuda", "3.7-hip", "3.9-cuda", "3.9-hip"])
def test_metadata_may_be_any_sequence_since_3_7(of: Any, dialect: str) -> None:
    class Sequence:
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> int:
            if index == 3:
                raise AssertionError("beyond the length")
            return (2, 1, 64)[index]

    class Tuple(tuple[int, ...]):
        def __getitem__(self, index: Any) -> Any:
            return (2, 1, 64)[index]

    driver = of(dialect)
    for metadata in ([2, 1, 64], Sequence(), Tuple((7, 7, 7)), range(2, 0, -1)):
        if len(metadata) == 3:
            assert launched(driver, metadata=metadata)["shared"] == 64

    class Failing(Sequence):
        def __getitem__(self, index: int) -> int:
            raise KeyError(index)

    class Raising(Sequence):
        def __len__(self) -> int:
            raise KeyError("length")

    launcher = driver.bind()
    with pytest.raises(TypeError, match="got Failing"):
        launch(driver, launcher, metadata=Failing())
    with pytest.raises(KeyError, match="length"):
        launch(driver, launcher, metadata=Raising())


def test_the_count_of_arguments_comes_first(each: Any, refused: Any) -> None:
    launcher = each.bind("i32", "*i8")
    entered: list[Any] = []
    for args, got in (((), 0), ((1,), 1), ((1, None, 2), 3)):
        text = f"add(i32, *i8) takes 2 arguments behind the exit hook, got {got}"
        call = lambda args=args: launch(each, launcher, *args, grid=("x", 1, 1), enter=entered.append)  # noqa: E731
        refused(each, call, TypeError, text)
    assert entered == []


def test_failed_launches_call_no_exit_hook(each: Any) -> None:
    called: list[Any] = []
    name = {"cuda": "cuLaunchKernelEx" if each.at_least >= (3, 4) else "cuLaunchKernel", "hip": "hipModuleLaunchKernel"}
    launcher = each.bind("i32")
    each.recorder.fail(name[each.backend], 0, 700)
    with pytest.raises(RuntimeError) as caught:
        launch(each, launcher, 5, exit=called.append)
    assert called == []
    block = 128 if each.backend == "cuda" else 256
    assert str(caught.value) == (
        f"Triton Error [{each.backend.upper()}]: error 700 (700 from {name[each.backend]}): add(i32), "
        f"grid (2, 3, 4), block {block}, shared 0"
    )


def test_unreachable_addresses(each: Any, refused: Any, tensor: Any) -> None:
    launcher = each.bind("*i8", names="p")
    text = (
        "argument 1 'p' of add(*i8): address 0xba0000001000 of Tensor cannot be accessed from the device "
        "(is it in CPU memory?)"
    )
    refused(each, lambda: launch(each, launcher, tensor(0xBA0000001000)), ValueError, text)
    cleared = each.backend == "hip" and each.at_least >= (3, 5)
    assert [event["call"] for event in each.events()][1:] == (["hipGetLastError"] if cleared else [])


def test_other_failures_of_a_pointer_query(each: Any, refused: Any, tensor: Any) -> None:
    launcher = each.bind("*i8")
    address = tensor(0x5E0000001000)
    if each.backend == "hip" and each.at_least >= (3, 7):  # the address stays as it is
        launch(each, launcher, address)
        assert each.parameters() == ["00100000005e0000"]
        assert [event["call"] for event in each.events()] == ["hipPointerGetAttribute", "hipModuleLaunchKernel"]
        return
    query = "cuPointerGetAttribute" if each.backend == "cuda" else "hipPointerGetAttribute"
    text = (
        f"Triton Error [{each.backend.upper()}]: error 700 (700 from {query}): argument 1 of add(*i8): "
        "address 0x5e0000001000"
    )
    refused(each, lambda: launch(each, launcher, address), RuntimeError, text)


def test_pointers_of_every_dialect(each: Any, refused: Any, tensor: Any) -> None:
    launcher = each.bind("*i8", "*i8", "*i8")
    launch(each, launcher, 2**64 - 1, None, tensor(0x910000001000))
    assert each.parameters() == ["ffffffffffffffff", "0000000000000000", "0010001000910000"]
    place = "argument 2 of add(*i8, *i8, *i8): expected"
    for value, kind, words in (
        (object(), TypeError, "None, an int or an object with data_ptr(), got object"),
        (tensor("x"), TypeError, "data_ptr() of Tensor to return an int"),
        (-1, OverflowError, "an address of 64 bits, got -1"),
        (2**64, OverflowError, "an address of 64 bits, got 18446744073709551616"),
    ):
        refused(each, lambda value=value: launch(each, launcher, 1, value, 3), kind, f"{place} {words}")
    with pytest.raises(LookupError, match="mine"):
        launch(each, launcher, 1, tensor(LookupError("mine")), 3)
