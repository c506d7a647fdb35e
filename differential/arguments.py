"""Arguments: from the JSON of a case to the Python objects that a launcher is given."""

from __future__ import annotations

import builtins
import ctypes
import types
from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from relaunch import generator

Note: TypeAlias = Callable[[bytes], None]
Make: TypeAlias = Callable[[Any], Any]

INTAKE = b'{"intake": "data_ptr"}'
RAISED = "raised by the argument"
TENSOR_MAP_ALIGNMENT = 64
TENSOR_MAP_BYTES = 128
DESCRIPTOR_BYTES = (TENSOR_MAP_BYTES, 48, 80)  # CUtensorMap; HIP's descriptor in 3.6 and from 3.7 on
MAX_NESTING = 100
"""Levels of an argument, or of tuples in a signature: what pickle, json and pure Python walk without running out."""

MAX_LENGTH = 100_000


class ArgumentError(ValueError):
    """JSON that describes no argument; the text says what was expected."""


# What a kind's value must be: "number" a hexadecimal number, "float" a C99 hexadecimal float or
# nan or inf, "items" a list of arguments, "argument" an argument, "name" an exception's name.
KINDS: Mapping[str, str] = {
    "float": "float",
    "str": "text",
    "tuple": "items",
    "list": "items",
    "namedtuple": "items",
    "dict": "length",
    "object": "integer",
    "tensor": "number",
    "dlpack": "number",
    "tensor_returns": "argument",
    "tensor_raises": "name",
    "index": "integer",
    "intlike": "integer",
    "floatlike": "float",
    "index_raises": "name",
    "float_raises": "name",
    "tensormap": "bytes",
    "descriptor_returns": "argument",
    "descriptor_raises": "name",
    "descriptor_unaligned": "integer",
    "descriptor": "members",
}

# Members of a descriptor object and what each must be; "sizes" is a list of integers.
DESCRIPTOR: Mapping[str, str] = {
    "base": "number",
    "shape": "sizes",
    "strides": "sizes",
    "block": "sizes",
    "padding": "text",
    "round": "flag",
}


def check(argument: Any, level: int = 0) -> None:
    """ArgumentError where `argument` is not of the form of a case's argument. `level`: of what it is nested in."""
    if argument is None or isinstance(argument, int):
        return
    if not isinstance(argument, Mapping):
        raise ArgumentError(f"expected null, true, false, an integer or an object, got {argument!r:.80}")
    if len(argument) != 1:
        raise ArgumentError(f"expected an object with one member, got {dict(argument)!r:.80}")
    if level >= MAX_NESTING:
        raise ArgumentError(f"nested deeper than {MAX_NESTING}")
    kind, value = next(iter(argument.items()))
    if kind not in KINDS:
        raise ArgumentError(f"unknown kind of argument {kind!r}")
    try:
        _check_value(KINDS[kind], value, level + 1)
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise error if isinstance(error, ArgumentError) else ArgumentError(f"{kind}: {value!r:.80} is wrong") from None


def _check_value(form: str, value: Any, level: int) -> None:
    if form == "items":
        for item in value:
            check(item, level)
    elif form == "argument":
        check(value, level)
    elif form == "float":
        float.fromhex(value)
    elif form == "number":
        int(value, 16)
    elif form == "bytes":
        if len(bytes.fromhex(value)) not in DESCRIPTOR_BYTES:
            raise ValueError
    elif form == "name":
        exception(value)
    elif form == "text":
        value.encode()
    elif form == "members":
        if set(value) != set(DESCRIPTOR):
            raise ArgumentError(f"a descriptor has {', '.join(DESCRIPTOR)}, got {', '.join(value)}")
        for name, member in DESCRIPTOR.items():
            _check_value(member, value[name], level)
    elif form == "sizes":
        if not all(type(size) is int for size in value):
            raise ValueError
    elif form == "flag":
        if type(value) is not bool:
            raise ValueError
    elif type(value) is not int:
        raise ArgumentError(f"expected an integer, got {value!r:.80}")
    elif form == "length" and not 0 <= value <= MAX_LENGTH:
        raise ArgumentError(f"expected a length of 0 to {MAX_LENGTH}, got {value}")


def exception(name: str) -> type[BaseException]:
    """The built-in exception of that name. ArgumentError where there is none."""
    found = getattr(builtins, name, None)
    if not (isinstance(found, type) and issubclass(found, BaseException)):
        raise ArgumentError(f"{name!r} is no built-in exception")
    return found


@cache
def named_tuple(length: int) -> Any:
    """A namedtuple class of that many fields."""
    return namedtuple("Named", [f"f{i}" for i in range(length)])  # noqa: PYI024 - made at run time


class Arguments:
    """Builds the objects of one dialect; those with a `data_ptr()` note each call through `note`.

    Every object with a method is an instance of a class named `Object` with the method on the class,
    because error texts show the class's name and launchers look methods up on it.
    """

    def __init__(self, dialect: str, note: Note) -> None:
        dialect = generator.base_of(dialect)
        backend = generator.facts(dialect).backend
        self._note = note
        self.tensor_map = tensor_map(dialect)
        self._rounds = rounds_descriptors(dialect)
        self._make: Mapping[str, Make] = {
            "float": float.fromhex,
            "str": str,
            "tuple": lambda items: tuple(self.build(item) for item in items),
            "list": lambda items: [self.build(item) for item in items],
            "namedtuple": lambda items: named_tuple(len(items))(*[self.build(item) for item in items]),
            "dict": lambda count: dict.fromkeys(range(count)),
            "object": lambda _: object(),
            "tensor": self._tensor_class(lambda address: int(address, 16)),
            "dlpack": self._tensor_class(lambda address: int(address, 16), __dlpack_c_exchange_api__=exchange(backend)),
            "tensor_returns": self._tensor_class(self.build),
            "tensor_raises": _raising("data_ptr"),
            "index": _answering("__index__", int),
            "intlike": _answering("__int__", int),
            "floatlike": _answering("__float__", float.fromhex),
            "index_raises": _raising("__index__"),
            "float_raises": _raising("__float__"),
            "tensormap": lambda text: self.tensor_map(bytes.fromhex(text)),
            "descriptor_returns": _answering("tma_desc_cpu_ptr", self.build),
            "descriptor_raises": _raising("tma_desc_cpu_ptr"),
            "descriptor_unaligned": lambda _: _unaligned_descriptor(),
            "descriptor": self._descriptor,
        }

    def build(self, argument: Any) -> Any:
        """The object that an argument's JSON describes. ArgumentError where it describes none."""
        if not isinstance(argument, Mapping):
            return argument
        for kind, value in argument.items():
            make = self._make.get(kind)
            if make is None:
                raise ArgumentError(f"unknown kind of argument {kind!r}")
            return make(value)
        raise ArgumentError("an argument's object is empty")

    def _descriptor(self, members: Any) -> Any:
        """A host tensor descriptor, as Triton's own class has it."""
        given = {
            "base": self.build({"tensor": members["base"]}),
            "shape": list(members["shape"]),
            "strides": list(members["strides"]),
            "block_shape": list(members["block"]),
            "padding": members["padding"],
        }
        if self._rounds:
            given["round_f32_to_tf32"] = members["round"]
        return types.SimpleNamespace(**given)

    def _tensor_class(self, read: Make, **members: Any) -> Make:
        note = self._note

        def data_ptr(self: Any) -> Any:
            note(INTAKE)
            return self.answer

        kind = type("Object", (), {"__slots__": ("answer",), "data_ptr": data_ptr, **members})
        return _instances(kind, read)


def has_tensor_map_type(dialect: str) -> bool:
    """Whether a tensor map is an object of the driver module's type; before, it was any object with an address."""
    found = generator.facts(dialect)
    return found.backend == "cuda" and release_of(dialect) >= (3, 5)


def rounds_descriptors(dialect: str) -> bool:
    """Whether descriptor objects say how they round to tf32."""
    return release_of(dialect) >= (3, 7)


def release_of(dialect: str) -> tuple[int, int]:
    """(3, 6) for triton-3.6-hip."""
    major, minor = dialect.split("-")[1].split(".")[:2]
    return int(major), int(minor)


def tensor_map(dialect: str) -> Callable[[bytes], Any]:
    """What makes the dialect's descriptor object out of its bytes."""
    backend = generator.facts(dialect).backend
    addressed = backend == "cuda" and not has_tensor_map_type(dialect)
    return _addressed_map if addressed else descriptor_type(backend)


def descriptor_type(backend: str) -> Make:
    """The stand-in for the descriptor class of the backend's Triton driver, of the released layout."""
    from relaunch.differential import _native

    return _native.PyCUtensorMap if backend == "cuda" else _native.PyTDMDescriptor


def exchange(backend: str) -> Any:
    """DLPack's C exchange table for tensors on that backend's kind of device."""
    from relaunch.differential import _native

    return _native.exchange_capsule(backend)


def _instances(kind: Any, read: Make) -> Make:
    def make(value: Any) -> Any:
        instance = kind()
        instance.answer = read(value)
        return instance

    return make


def _answering(method: str, read: Make) -> Make:
    def answer(self: Any) -> Any:
        return self.answer

    return _instances(type("Object", (), {"__slots__": ("answer",), method: answer}), read)


def _raising(method: str) -> Make:
    def fail(self: Any) -> Any:
        raise self.answer(RAISED)

    return _instances(type("Object", (), {"__slots__": ("answer",), method: fail}), exception)


def _unaligned_descriptor() -> Any:
    """An object whose `tma_desc_cpu_ptr()` gives a readable address that is no multiple of 64."""
    return _addressed_map(bytes(TENSOR_MAP_BYTES), TENSOR_MAP_ALIGNMENT // 2)


def _addressed_map(content: bytes, offset: int = 0) -> Any:
    """An object whose `tma_desc_cpu_ptr()` gives the address of the bytes: a multiple of 64, and `offset`."""
    buffer = ctypes.create_string_buffer(TENSOR_MAP_BYTES + 2 * TENSOR_MAP_ALIGNMENT)
    start = ctypes.addressof(buffer)
    address = -(-start // TENSOR_MAP_ALIGNMENT) * TENSOR_MAP_ALIGNMENT + offset
    ctypes.memmove(address, content, len(content))

    def tma_desc_cpu_ptr(_self: Any) -> int:
        return address

    return type("Object", (), {"buffer": buffer, "tma_desc_cpu_ptr": tma_desc_cpu_ptr})()
